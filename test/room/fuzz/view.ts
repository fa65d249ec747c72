/** A room's stores and comments as a newcomer reads them, page by page. */
import { entryName, type Mirror } from "./peer.ts";

type Ask = (type: string, data: object) => Promise<Record<string, unknown>>;

/** Small, so that there are several pages. */
const PAGE = 3;

interface StorePage {
  readonly entries: Readonly<Record<string, { readonly value: unknown; readonly version: number }>>;
  readonly next?: string;
}

/** Reads all comments, and the stores that anyone may have written to. */
export async function view(known: Mirror, ask: Ask) {
  const stores = new Set([...known.entries.keys()].map((name) => String(JSON.parse(name)[0])));
  const entries: (readonly [string, unknown])[] = [];
  for (const store of [...stores, "s", "t", "__proto__"].filter(
    (name, index, all) => all.indexOf(name) === index,
  ))
    for (const [key, entry] of await readStore(store, ask)) entries.push([entryName(store, key), entry]);
  entries.sort(([one], [other]) => (one < other ? -1 : 1));
  return { entries: new Map(entries), comments: await readComments(ask) };
}

async function readStore(store: string, ask: Ask): Promise<(readonly [string, unknown])[]> {
  const entries: (readonly [string, unknown])[] = [];
  let after: string | undefined;
  do {
    const page = (await ask("STORE_SYNC", {
      store,
      limit: PAGE,
      ...(after && { after }),
    })) as unknown as StorePage;
    entries.push(...Object.entries(page.entries));
    after = page.next;
  } while (after !== undefined);
  return entries;
}

async function readComments(ask: Ask): Promise<unknown[]> {
  const comments: unknown[] = [];
  for (let total = 1; comments.length < total; ) {
    const page = await ask("COMMENT_LIST", { limit: PAGE, offset: comments.length });
    comments.push(...(page.comments as unknown[]));
    total = Number(page.total);
  }
  return comments;
}
