/** Static files: the platform serves `/assets/` without the Worker, which costs nothing, with the headers of a page. */
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { FILE_HEADERS } from "../../http/security.ts";
import { ROOT } from "../process/supervisor.ts";

/** The folder that wrangler.toml serves. */
export const PUBLIC = path.join(ROOT, ".wrangler/public");

const YEAR_SECONDS = 365 * 24 * 60 * 60;

const WEEK_SECONDS = 7 * 24 * 60 * 60;

/** The names of the dashboard's files contain a hash of their content; the typeface and the mark hardly ever change. */
const RULES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "/assets/*": FILE_HEADERS,
  "/assets/dashboard/*": { "Cache-Control": `public, max-age=${YEAR_SECONDS}, immutable` },
  "/assets/style/*": { "Cache-Control": `public, max-age=${WEEK_SECONDS}` },
};

/** Writes `_headers`, which Cloudflare and Miniflare apply to what they serve by themselves. */
export async function writeHeaders(): Promise<void> {
  const rules = Object.entries(RULES).map(([pattern, headers]) =>
    [pattern, ...Object.entries(headers).map(([name, value]) => `  ${name}: ${value}`)].join("\n"),
  );
  await mkdir(PUBLIC, { recursive: true });
  await writeFile(path.join(PUBLIC, "_headers"), `${rules.join("\n\n")}\n`);
}
