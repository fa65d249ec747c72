/** Media types of files: parsed strictly, compared without parameters, and never trusted where that is unsafe. */

const UNKNOWN_TYPE = "application/octet-stream";

const MAX_LENGTH = 255;
const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const PARAMETER = `[ \\t]*;[ \\t]*${TOKEN}=(?:${TOKEN}|"(?:[ !#-[\\]-~]|\\\\[ -~])*")`;
const MEDIA_TYPE = new RegExp(`^(${TOKEN}/${TOKEN})((?:${PARAMETER})*)$`);

export const essenceOf = (mimeType: string): string => (mimeType.split(";")[0] ?? "").trim().toLowerCase();

export function cleanType(given: string | undefined): string {
  const [, essence, parameters = ""] = MEDIA_TYPE.exec((given ?? "").trim()) ?? [];
  if (essence === undefined || essence.length + parameters.length > MAX_LENGTH) return UNKNOWN_TYPE;
  return essence.toLowerCase() + parameters;
}

const FILTER = new RegExp(`^(?!\\*)${TOKEN}/(?:${TOKEN})?$`);

export function parseTypeFilter(given: string): string | null {
  const essence = essenceOf(given);
  if (!FILTER.test(essence)) return null;
  return essence.endsWith("/*") ? essence.slice(0, -1) : essence;
}

const SHOWN_INLINE = new Set(
  [
    ["image", "avif bmp gif jpeg png webp x-icon vnd.microsoft.icon"],
    ["audio", "aac flac mp4 mpeg ogg wav webm x-wav"],
    ["video", "mp4 mpeg ogg quicktime webm"],
  ].flatMap(([category, names = ""]) => names.split(" ").map((name) => `${category}/${name}`)),
);

export const isShownInline = (mimeType: string): boolean => SHOWN_INLINE.has(essenceOf(mimeType));

const RUN_BY_REFERENCE = /^(?:text|application)\/(?:x-)?(?:java|ecma|j|live)script[\d.]*$|^text\/css$/;

/** Scripts and style sheets lose their type: `nosniff` then keeps pages of this origin from loading them. */
export const servedType = (mimeType: string): string =>
  RUN_BY_REFERENCE.test(essenceOf(mimeType)) ? UNKNOWN_TYPE : mimeType;
