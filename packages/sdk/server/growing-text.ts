/** Writes a text while it is generated. */
import type { EditPlace } from "../wire/requests.ts";

const INTERVAL_MS = 200;
/** The characters of one edit, at most: half of the service's bound. */
const MAX_LENGTH = 50_000;
/** The blocks of one edit, at most: below the service's bound. */
const MAX_BLOCKS = 900;

/** A text in pieces: `write` gets all that has come since the last call, and is never called twice at a time. */
export async function writeGrowing(
  pieces: AsyncIterable<string> | Iterable<string>,
  isInBlocks: boolean,
  write: (text: string) => Promise<void>,
): Promise<void> {
  let held = "";
  let writing: Promise<void> | null = null;
  let failure: { readonly error: unknown } | null = null;
  const flush = async () => {
    const text = readyPart(held, isInBlocks);
    held = held.slice(text.length);
    if (text === "") return;
    await write(text);
    await new Promise((resolve) => setTimeout(resolve, INTERVAL_MS));
  };
  for await (const piece of pieces) {
    if (failure !== null) break;
    held += piece;
    writing ??= flush().then(
      () => {
        writing = null;
      },
      (error: unknown) => {
        failure = { error };
      },
    );
  }
  await writing;
  if (failure !== null) throw (failure as { readonly error: unknown }).error;
  for (let text = readyPart(held, isInBlocks); text !== ""; text = readyPart(held, isInBlocks)) {
    held = held.slice(text.length);
    await write(text);
  }
}

/** The part that can be written now: not half of a character, nor line breaks that may begin the next block. */
function readyPart(text: string, isInBlocks: boolean): string {
  const whole = text
    .slice(0, MAX_LENGTH)
    .replace(/[\uD800-\uDBFF]$/, "")
    .toWellFormed();
  if (!isInBlocks) return whole;
  const breaks = [...whole.matchAll(/(?:\r?\n){2,}/g)];
  return whole.slice(0, breaks[MAX_BLOCKS]?.index).replace(/[\r\n]+$/, "");
}

/** The edits with which a text goes on at a place: in its block, and after an empty line in further ones. */
export function continued<Block, Format>(
  text: string,
  at: EditPlace,
  block: Block | undefined,
  format: Format | undefined,
) {
  if (block === undefined) return [{ at, insert: text, format }];
  const [own = "", ...others] = text.split(/(?:\r?\n){2,}/);
  return [
    ...(own === "" ? [] : [{ at, insert: own, format }]),
    ...(others.length === 0 ? [] : [{ at, insert: others.join("\n\n"), block, format }]),
  ];
}
