/** An operation of the API in words: `rotateWebhookSecret` is "Rotate webhook secret". Pure. */

const ACRONYMS: Readonly<Record<string, string>> = { api: "API" };

export function operationName(operation: string): string {
  const words = operation
    .replaceAll(/([A-Z])/g, " $1")
    .split(" ")
    .map((word) => ACRONYMS[word.toLowerCase()] ?? word.toLowerCase());
  const sentence = words.join(" ");
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}
