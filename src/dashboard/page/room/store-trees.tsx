/** The stores of a room as a tree, in which what changes is highlighted for a moment. */
import type { Entry, StoreSummary } from "atrium/server";
import { useState } from "react";
import { Link } from "wouter";
import { ErrorMessage, Loaded } from "../ui/feedback.tsx";
import { JsonTree, useChangeCount } from "../ui/json-tree.tsx";
import { Section } from "../ui/page.tsx";
import { EntryPager, useEntryPage, useStores } from "./entries.tsx";

export function StoreTrees({ roomId }: { readonly roomId: string }) {
  const { data, error } = useStores(roomId);
  return (
    <Section id="store-trees" title="Stores">
      <ErrorMessage error={error} />
      {data?.length === 0 && (
        <p className="soft">
          There are none. <Link href={`/rooms/${roomId}/stores`}>Create one</Link>, or let a client write.
        </p>
      )}
      {data !== undefined && data.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
        <section className="scroll json-tree" tabIndex={0} aria-label="Stores as a tree">
          {data.map((store, index) => (
            <StoreBranch key={store.name} roomId={roomId} store={store} isOpenAtFirst={index === 0} />
          ))}
        </section>
      )}
    </Section>
  );
}

interface StoreBranchProps {
  readonly roomId: string;
  readonly store: StoreSummary;
  readonly isOpenAtFirst: boolean;
}

function StoreBranch({ roomId, store: { name, entries }, isOpenAtFirst }: StoreBranchProps) {
  const [isOpen, setOpen] = useState(isOpenAtFirst);
  const changes = useChangeCount(entries);
  return (
    <details className="json-node" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span className="json-name">{name}</span>
        <code key={changes} className={changes > 0 ? "json-preview changed" : "json-preview"}>
          {`{${entries.toLocaleString("en")}}`}
        </code>
      </summary>
      {isOpen && <Entries roomId={roomId} store={name} total={entries} />}
    </details>
  );
}

interface EntriesProps {
  readonly roomId: string;
  readonly store: string;
  readonly total: number;
}

function Entries({ roomId, store, total }: EntriesProps) {
  const { query, position } = useEntryPage(roomId, store);
  return (
    <Loaded query={query}>
      {({ entries }) => (
        <>
          {/* An entry that comes to a shown page is new; one of another page is not. */}
          <EntryNodes key={query.isPlaceholderData ? "loading" : position.offset} entries={entries} />
          <EntryPager {...{ position, store, total }} shown={Object.keys(entries).length} />
        </>
      )}
    </Loaded>
  );
}

function EntryNodes({ entries }: { readonly entries: Readonly<Record<string, Entry>> }) {
  const keys = Object.keys(entries).sort((a, b) => (a < b ? -1 : 1));
  const [known] = useState(() => new Set(keys));
  return (
    <ul className="json-children">
      {keys.map((key) => (
        <li key={key}>
          <JsonTree name={key} value={entries[key]?.value} isNew={!known.has(key)} />
        </li>
      ))}
    </ul>
  );
}
