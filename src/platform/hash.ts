/** SHA-256 and hexadecimal, for keys, receipts and tokens. */

/** Lower-case hexadecimal. */
export const hex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** SHA-256 in hexadecimal. */
export const sha256 = async (bytes: BufferSource): Promise<string> =>
  hex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
