/** What a file is said to be: read strictly, compared by its essence, and never believed where that would be unsafe. */

/** What counts when nothing better is known. */
export const UNKNOWN_TYPE = "application/octet-stream";

const MAX_LENGTH = 255;
const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const PARAMETER = `[ \\t]*;[ \\t]*${TOKEN}=(?:${TOKEN}|"(?:[ !#-[\\]-~]|\\\\[ -~])*")`;
const MEDIA_TYPE = new RegExp(`^(${TOKEN}/${TOKEN})((?:${PARAMETER})*)$`);

/** The type itself without its parameters, in lower case. */
export const essenceOf = (mimeType: string): string => (mimeType.split(";")[0] ?? "").trim().toLowerCase();

/** The type as it is kept: its essence in lower case, its parameters as given; unknown when it is malformed. */
export function cleanType(given: string | undefined): string {
  const [, essence, parameters = ""] = MEDIA_TYPE.exec((given ?? "").trim()) ?? [];
  if (essence === undefined || essence.length + parameters.length > MAX_LENGTH) return UNKNOWN_TYPE;
  return essence.toLowerCase() + parameters;
}

const FILTER = new RegExp(`^(?!\\*)${TOKEN}/(?:${TOKEN})?$`);

/** What a filter means: a type, or a category as `image/`; null when it is neither. */
export function parseTypeFilter(given: string): string | null {
  const essence = essenceOf(given);
  if (!FILTER.test(essence)) return null;
  return essence.endsWith("/*") ? essence.slice(0, -1) : essence;
}

/** Shown in the page that asks for them: what a browser decodes and never runs. */
const SHOWN_INLINE = new Set(
  [
    ["image", "avif bmp gif jpeg png webp x-icon vnd.microsoft.icon"],
    ["audio", "aac flac mp4 mpeg ogg wav webm x-wav"],
    ["video", "mp4 mpeg ogg quicktime webm"],
  ].flatMap(([category, names = ""]) => names.split(" ").map((name) => `${category}/${name}`)),
);

/** True for what may be shown where it is opened; all else is saved to disk. */
export const isShownInline = (mimeType: string): boolean => SHOWN_INLINE.has(essenceOf(mimeType));

const RUN_BY_REFERENCE = /^(?:text|application)\/(?:x-)?(?:java|ecma|j|live)script[\d.]*$|^text\/css$/;

/**
 * The type that is told to browsers. Scripts and styles lose theirs: a page of the same origin takes them by
 * reference, whatever else their answer says, and `nosniff` has it refuse what is not called one.
 */
export const servedType = (mimeType: string): string =>
  RUN_BY_REFERENCE.test(essenceOf(mimeType)) ? UNKNOWN_TYPE : mimeType;
