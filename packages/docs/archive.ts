/** The finished folder of a quickstart as an archive, made from the files that its Markdown shows. */
import { createTar } from "nanotar";

/** The service in the Markdown of the quickstarts. */
const LOCAL = "http://localhost:8787";

/** Two empty blocks end an archive, for which nanotar leaves no room at some sizes. */
const END = new Uint8Array(1024);

/** The values that the archive's `.env` and package manifest name. */
export interface ArchiveFor {
  /** The address of the service. */
  readonly origin: string;
  /** The reader's own credentials; without them the places stay open. */
  readonly credentials: { readonly accountId: string; readonly apiKey: string } | null;
}

export const archiveAddress = (page: string): string => `${page}.tgz`;

/** Files by their names: fenced blocks with a name behind the language. Of two with one name, the later one holds. */
export const filesOf = (markdown: string): Map<string, string> =>
  new Map(
    [...markdown.matchAll(/^```\w+ (\S+)\n([\s\S]*?)^```$/gm)].map(([, name = "", text = ""]) => [
      name,
      text,
    ]),
  );

/** The folder `name` with the files of `markdown`, in the form of a gzipped tar. The same files give the same bytes. */
export function archiveOf(
  name: string,
  markdown: string,
  { origin, credentials }: ArchiveFor,
): ReadableStream {
  const files = filesOf(markdown);
  const env = files.get(".env");
  if (env !== undefined && credentials !== null)
    files.set(
      ".env",
      env
        .replace("ACCOUNT_ID=...", `ACCOUNT_ID=${credentials.accountId}`)
        .replace("API_KEY=...", `API_KEY=${credentials.apiKey}`),
    );
  files.set(".gitignore", "*.env\n.next\nnode_modules\n");
  const archive = createTar(
    [...files].map(([file, text]) => ({
      name: `${name}/${file}`,
      data: text.replaceAll(LOCAL, origin),
      attrs: { mode: file === ".env" ? "600" : "644" },
    })),
    { attrs: { mtime: 0, uid: 0, gid: 0 } },
  );
  return new Blob([new Uint8Array(archive), END]).stream().pipeThrough(new CompressionStream("gzip"));
}
