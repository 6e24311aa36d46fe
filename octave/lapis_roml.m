function [match, result, info] = lapis_roml (X, group, varargin)
  % [match, result, info] = lapis_roml (X, group, NAME, VALUE, ...)
  %
  % Matching objects in a set of images [ROML16]: X (points x d) holds the
  % features of all images, group (points x 1) says whose image each is.
  %
  % match   images x inliers: rows of X, a column a point of the object; 0
  %         where it is absent
  % result  inlier (the same shape), low_rank and sparse
  %         (images x inliers x d), history, ...
  % info    status, iterations, objective, residual, seconds, ...
  %
  % Settings are those of "lapis fit roml --help", with _ for -; 'start' also
  % takes a match.  'xy', POSITIONS (points x 2) goes with 'map', 'embed'.
  settings = lapis_struct (varargin);
  lapis_needs (nargin, 2, 'lapis_roml (X, group, ...)');
  data = struct ('X', lapis_full (X, 'X'), ...
                 'group', lapis_full (group, 'group', rows (X)));
  if (isfield (settings, 'xy'))
    data.xy = lapis_full (settings.xy, 'xy', rows (X));
    settings = rmfield (settings, 'xy');
  end
  [result, info] = lapis_mex ('solve', 'roml', data, settings);
  match = result.match;
  for name = {'low_rank', 'sparse'}
    [images, slots] = size (match);
    blocks = reshape (result.(name{1}), images, [], slots);
    result.(name{1}) = permute (blocks, [1, 3, 2]);
  end
end
