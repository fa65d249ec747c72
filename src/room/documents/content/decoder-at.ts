/** Reads an update from the middle. */
import * as decoding from "lib0/decoding";

export function decoderAt(bytes: Uint8Array, at: number): decoding.Decoder {
  const decoder = decoding.createDecoder(bytes);
  decoder.pos = at;
  return decoder;
}
