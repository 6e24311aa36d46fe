/* digest.c - SHA-256 [FIPS 180-4], by which the page's policy names the one
 * script and the one style sheet that a browser may use.
 *
 * The message is padded to blocks of 64 bytes: a bit 1, zeros, its length in
 * bits.  Letters are the standard's. */
#include <string.h>

#include "images/page/page.h"

enum { BLOCK = 64, ROUNDS = 64 };

/* Fractions of the cube roots of the first 64 primes. */
static const uint32_t K[ROUNDS] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotr(uint32_t x, int n)
{
  return x >> n | x << (32 - n);
}

/* H becomes that of one block more. */
static void take_block(uint32_t H[8], const unsigned char *M)
{
  uint32_t W[ROUNDS], a[8];
  for (int t = 0; t < 16; t++)
    W[t] = (uint32_t)M[4 * t] << 24 | (uint32_t)M[4 * t + 1] << 16 |
           (uint32_t)M[4 * t + 2] << 8 | M[4 * t + 3];
  for (int t = 16; t < ROUNDS; t++) {
    uint32_t x = W[t - 15], y = W[t - 2];
    W[t] = W[t - 16] + (rotr(x, 7) ^ rotr(x, 18) ^ x >> 3) + W[t - 7] +
           (rotr(y, 17) ^ rotr(y, 19) ^ y >> 10);
  }
  memcpy(a, H, sizeof a);
  for (int t = 0; t < ROUNDS; t++) {
    uint32_t e = a[4], T1, T2;
    T1 = a[7] + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) +
         ((e & a[5]) ^ (~e & a[6])) + K[t] + W[t];
    T2 = (rotr(a[0], 2) ^ rotr(a[0], 13) ^ rotr(a[0], 22)) +
         ((a[0] & a[1]) ^ (a[0] & a[2]) ^ (a[1] & a[2]));
    memmove(a + 1, a, 7 * sizeof *a);
    a[4] += T1;
    a[0] = T1 + T2;
  }
  for (int i = 0; i < 8; i++) H[i] += a[i];
}

void page_digest(page *p, const char *text, int64_t size)
{
  /* Fractions of the square roots of the first 8 primes. */
  uint32_t H[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  unsigned char last[2 * BLOCK] = {0}, digest[32];
  int64_t whole = size / BLOCK * BLOCK, rest = size - whole;
  int64_t end = rest + 9 <= BLOCK ? BLOCK : 2 * BLOCK;
  for (int64_t at = 0; at < whole; at += BLOCK)
    take_block(H, (const unsigned char *)text + at);
  if (rest > 0) memcpy(last, text + whole, (size_t)rest);
  last[rest] = 0x80;
  for (int i = 0; i < 8; i++)
    last[end - 1 - i] = (unsigned char)((uint64_t)size * 8 >> 8 * i);
  for (int64_t at = 0; at < end; at += BLOCK) take_block(H, last + at);
  for (int i = 0; i < 32; i++)
    digest[i] = (unsigned char)(H[i / 4] >> 8 * (3 - i % 4));
  page_words(p, "'sha256-");
  page_base64(p, digest, sizeof digest);
  page_words(p, "'");
}
