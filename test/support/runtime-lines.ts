/**
 * Keeps apart the output of workerd and Miniflare about failures that tests provoke: no setting of theirs
 * silences it.
 */

/** Output by the failure that it names; the tests assert the service's handling of it. */
const PROVOKED: readonly RegExp[] = [
  // A webhook whose host does not exist, or does not speak TLS.
  /ffi\.rs:\d+: failed: (failed to lookup address information|TLS handshake failed)/,
  // A range of an empty file: Miniflare's R2 asserts that it lies within the object, where R2 answers with an error.
  /^R2 error response does not contain the CF-R2-Error header/,
  /\[mf:error\] AssertionError[\s\S]*\bfetchSingleRange\b/,
];

export const isProvoked = (text: string): boolean => PROVOKED.some((pattern) => pattern.test(text));

/** Filters the provoked lines out of this process's output. Each message is one write. */
export function omitProvokedLines(): void {
  for (const stream of [process.stdout, process.stderr]) {
    const write = stream.write.bind(stream);
    stream.write = (chunk: string | Uint8Array, ...rest: []) =>
      (typeof chunk === "string" && isProvoked(chunk)) || write(chunk, ...rest);
  }
}
