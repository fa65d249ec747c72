/** The parts of a suggestion, and the update by which a document accepts some of them. */

import { AppError } from "@atrium/contract/errors.ts";
import * as Y from "yjs";
import type { EditGuard } from "../../types/documents.ts";
import { ComparedDocument } from "../compare/compared-document.ts";
import { type DeleteSet, encodeChanges } from "../updates/built-document.ts";
import { compactUpdate } from "../updates/compact-update.ts";
import { IdSet } from "../updates/ranges.ts";
import { scanUpdate } from "../updates/update-reader.ts";
import { CurrentDocument, inOrder, parentItemOf, rangeOf } from "./current-document.ts";
import { type ChangeKind, changesOf, childrenOf, type ForkChange, type Path } from "./fork-changes.ts";
import { renumbered } from "./renumbering.ts";

export interface SuggestedPart {
  /** Names its operations: the same while the fork and its base are the same. */
  readonly id: string;
  readonly kind: ChangeKind;
  /** The shared type of the document. */
  readonly root: string;
  /** From the root to the change in the fork: keys of maps, positions in lists and texts; an attribute's name at its end. */
  readonly path: Path;
  /** The text, the XML or the JSON before and after; null for nothing. */
  readonly before: string | null;
  readonly after: string | null;
  /** Up to 40 characters of unchanged text around it; none for keys. */
  readonly context: { readonly before: string; readonly after: string };
  /**
   * Whether the document has deleted the text, or set or deleted the key, that the part changes, or has something new in
   * a type (a block, a text at a key) that the part deletes.
   */
  readonly isStale: boolean;
}

/** Updates (v1), each of them whole. */
export interface SuggestionVersions {
  readonly base: Uint8Array;
  /** The base with the suggestion. */
  readonly fork: Uint8Array;
  /** The document as it is. */
  readonly current: Uint8Array;
  /** From it the IDs of the accepted operations' clients derive. Its author must not know it. */
  readonly secret: string;
}

export interface Acceptance {
  readonly update: Uint8Array;
  /** All parts, as they were before the update. */
  readonly parts: SuggestedPart[];
  /**
   * The operations of the document on which the accepted parts rely: the deleted and the formatted ones, the neighbors
   * of insertions, and the types that contain them; deleted types, into which no one may have written; and the
   * operations that they insert, which may come from the author's own client. With updates that came since,
   * `isOvertaken` tells whether the review must be made again.
   */
  readonly guard: EditGuard;
  /** Whether accepted parts set keys, or the document lacks operations, which the guard does not cover. */
  readonly isFragile: boolean;
}

/** The parts of a fork, in the order of its content. CONFLICT when a document is too large or nests too deeply. */
export function partsOf(versions: SuggestionVersions): SuggestedPart[] {
  return new Suggestion(versions).parts;
}

/**
 * The update that adds the accepted parts to the document, and nothing of the others that is shown. Null when nothing
 * is accepted or nothing changes. CONFLICT for stale or unknown parts, for a fork that lacks operations, and as for {@link partsOf}.
 */
export function acceptingUpdate(
  versions: SuggestionVersions,
  accepted: ReadonlySet<string> | "all",
): Acceptance | null {
  const suggestion = new Suggestion(versions);
  const { parts } = suggestion;
  const ids = accepted === "all" ? new Set(parts.map(({ id }) => id)) : accepted;
  const known = new Map(parts.map((part) => [part.id, part]));
  for (const id of ids) {
    const part = known.get(id);
    if (part === undefined) throw conflict(`The suggestion has no part ${JSON.stringify(id)}; read it again`);
    if (part.isStale)
      throw conflict(`The document has changed where part ${JSON.stringify(id)} is; reject the part`);
  }
  if (ids.size === 0) return null;
  if (suggestion.isIncomplete)
    throw conflict("The suggestion lacks changes of its author, who must connect again: wait, or reject it");
  const merged = suggestion.merge(ids);
  return merged && { ...merged, parts };
}

const conflict = (message: string) => new AppError("Rooms", "CONFLICT", message);

class Suggestion {
  readonly parts: SuggestedPart[];
  readonly #current: CurrentDocument;
  readonly #secret: string;
  readonly #points: ComparedDocument;
  readonly #changes: readonly ForkChange[];
  /** Whether operations of the fork wait for others, which have not come yet. */
  readonly isIncomplete: boolean;

  constructor({ base, fork, current, secret }: SuggestionVersions) {
    this.#secret = secret;
    // One document at a time is in memory.
    this.#current = new CurrentDocument(current, base);
    this.#points = new ComparedDocument([base], [{ authors: [], data: fork }]);
    this.#changes = changesOf(this.#points);
    const [known, { store }] = [new IdSet(), this.#points.doc];
    known.addAll(scanUpdate(base).inserted);
    this.isIncomplete = scanUpdate(fork).inserted.some(
      (range) => range.end > Y.getState(store, range.client) && !known.covers(range),
    );
    const isStale = this.#current.staleness(this.#points.doc);
    this.parts = this.#changes.map((change) => {
      const { id, root, path, shown, context } = change;
      return {
        id,
        kind: change.kind ?? "replace",
        root,
        path,
        before: shown.before.xml,
        after: shown.after.xml,
        context,
        isStale: isStale(change),
      };
    });
  }

  /** The update with these parts; null when the document has them already. */
  merge(ids: ReadonlySet<string>): Omit<Acceptance, "parts"> | null {
    const chosen = this.#changes.filter(({ id }) => ids.has(id));
    const deletions = this.#deletionsOf(chosen);
    this.#dropEntries(chosen);
    const { doc, stateBefore } = this.#points;
    const hasNews = [...doc.store.clients.keys()].some(
      (client) => Y.getState(doc.store, client) > (stateBefore.get(client) ?? 0),
    );
    if (!hasNews && [...deletions.ranges()].every((range) => this.#current.deleted.covers(range)))
      return null;
    const changes = compactUpdate(encodeChanges(doc, new Map(stateBefore), deleteSetOf(deletions)), true);
    const update = renumbered(changes, stateBefore, this.#current.operations.clients(), this.#secret);
    const isFragile = this.#current.isIncomplete || chosen.some(({ kind }) => kind === "set");
    return { update, guard: this.#guardOf(chosen), isFragile };
  }

  /** The deletions of the chosen parts, and what the fork inserted beside them. */
  #deletionsOf(chosen: readonly ForkChange[]): IdSet {
    const [deletions, kept] = [new IdSet(), new IdSet()];
    deletions.addAll(inOrder(chosen.map(({ deleted }) => deleted)));
    kept.addAll(inOrder(chosen.map(({ inserted }) => inserted)));
    for (const struct of this.#structs()) {
      const { client, clock } = struct.id;
      if (!this.#isNew(struct)) continue;
      if (struct.deleted) deletions.add(rangeOf(struct.id, struct.length));
      else
        for (let at = clock; at < clock + struct.length; ) {
          const { value, end } = kept.at(client, at);
          const until = Math.min(end, clock + struct.length);
          if (value === undefined) deletions.add({ client, start: at, end: until });
          at = until;
        }
    }
    return deletions;
  }

  /**
   * Replaces the entries of keys that no chosen part sets by collected operations: an entry, even a deleted one, would
   * take the place of the document's. Such entries are in no part at all where they show
   * the same value as before: others may write into that of the document.
   */
  #dropEntries(chosen: readonly ForkChange[]): void {
    const kept = new Set(chosen.flatMap(({ key }) => key?.entries ?? []));
    for (const structs of this.#points.doc.store.clients.values())
      for (const [index, struct] of structs.entries())
        if (struct instanceof Y.Item && this.#isKeyOfBase(struct) && !kept.has(struct))
          structs[index] = new Y.GC(struct.id, struct.length);
  }

  #guardOf(chosen: readonly ForkChange[]): EditGuard {
    const [relied, begun, remains] = [new IdSet(), new IdSet(), new IdSet()];
    const places = chosen.flatMap((change) => change.places);
    for (const { parent } of places) {
      let item = parent instanceof Y.AbstractType ? parent._item : null;
      for (; item !== null && !relied.covers(rangeOf(item.id, 1)); item = parentItemOf(item))
        relied.add(rangeOf(item.id, 1));
    }
    const neighbors = places.flatMap(({ left, right, inserts }) => (inserts ? [left, right] : []));
    relied.addAll(inOrder([neighbors.flatMap((id) => (id === null ? [] : [rangeOf(id, 1)]))]));
    relied.addAll(inOrder(chosen.map(({ deleted }) => deleted)));
    relied.addAll(inOrder(chosen.map(({ formatted }) => formatted)));
    const containers = chosen.flatMap((change) => change.containers);
    begun.addAll(inOrder([containers.map(({ id }) => rangeOf(id, 1))]));
    const inner = containers.flatMap((item) => [...childrenOf(item.content.type)]);
    remains.addAll(inOrder([inner.map(({ id, length }) => rangeOf(id, length))]));
    remains.addAll(inOrder([this.#current.remainsIn(begun)]));
    const own = new IdSet();
    own.addAll(inOrder(chosen.map(({ inserted }) => inserted)));
    return {
      ranges: this.#current.shownOf(relied),
      interiors: [],
      begun: [...begun.ranges()],
      keyless: [...begun.ranges()],
      remains: [...remains.ranges()],
      own: [...own.ranges()],
      state: this.#current.operations.encodeStateVector(),
    };
  }

  #isKeyOfBase(item: Y.Item): boolean {
    const { parent, parentSub } = item;
    if (parentSub === null || !this.#isNew(item)) return false;
    const container = parent instanceof Y.AbstractType ? parent._item : null;
    return container === null || !this.#isNew(container);
  }

  #isNew({ id: { client, clock } }: Struct): boolean {
    return clock >= (this.#points.stateBefore.get(client) ?? 0);
  }

  *#structs(): Generator<Struct> {
    for (const structs of this.#points.doc.store.clients.values()) yield* structs;
  }
}

type Struct = Y.Item | Y.GC;

function deleteSetOf(deletions: IdSet): DeleteSet {
  const set = Y.createDeleteSet();
  for (const [client, ranges] of Map.groupBy(deletions.ranges(), ({ client }) => client))
    set.clients.set(
      client,
      ranges.map(({ start, end }) => ({ clock: start, len: end - start })),
    );
  return set;
}
