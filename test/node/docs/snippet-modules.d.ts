/** Types of what snippets import from packages that this repository does not install. */

declare module "next/server" {
  export function connection(): Promise<void>;
}
