/** Starts and ends of words, in all scripts. For regular expressions. */

/** Letters of scripts whose words stand without spaces, so that a name can follow them, and they a name. */
const UNSPACED = ["Han", "Hira", "Kana", "Bopo", "Hang", "Thai", "Laoo", "Khmr", "Mymr", "Tibt"]
  .map((script) => `\\p{scx=${script}}`)
  .join("");
export const LETTER = String.raw`(?![${UNSPACED}])[\p{L}\p{N}]`;
/** Not within a word. */
export const WORD_START = `(?<!${LETTER})`;
