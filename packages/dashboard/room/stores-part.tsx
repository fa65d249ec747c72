/** The stores of a room: one at a time, as a table that updates live. */
import type { Entry } from "atrium/server";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import { pathPartOf } from "../data/address.ts";
import { orNull, useAction, useApiQuery } from "../data/organization.tsx";
import { LiveLine, useRefreshMs } from "../live/live.tsx";
import { Button } from "../ui/button.tsx";
import { ActionButton } from "../ui/dialog.tsx";
import { Empty, Loaded } from "../ui/feedback.tsx";
import { NameField } from "../ui/fields.tsx";
import { FormDialog } from "../ui/form.tsx";
import { JsonTree } from "../ui/json-tree.tsx";
import { SearchBox } from "../ui/list-filters.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { EntryForm, queriesOf } from "./entry-form.tsx";

interface StoresPartProps {
  readonly roomId: string;
  readonly chosen: string | undefined;
}

export function StoresPart({ roomId, chosen }: StoresPartProps) {
  const stores = useStores(roomId);
  const addressOf = (store: string) => `/rooms/${roomId}/stores/${pathPartOf(store)}`;
  const shown = chosen ?? stores.data?.[0]?.name;
  return (
    <Loaded query={stores} shape="list">
      {(data) => (
        <section>
          <LiveLine />
          <div className="filters">
            <nav className="chips" aria-label="Stores">
              {data.map(({ name, entries }) => (
                <Link key={name} href={addressOf(name)} aria-current={name === shown ? "page" : undefined}>
                  {name} <span className="soft">{entries}</span>
                </Link>
              ))}
            </nav>
            <NewStore addressOf={addressOf} isFirst={shown === undefined} />
          </div>
          {shown === undefined ? (
            <NoStores roomId={roomId} />
          ) : (
            <EntryTable
              key={shown}
              roomId={roomId}
              store={shown}
              total={data.find(({ name }) => name === shown)?.entries}
            />
          )}
        </section>
      )}
    </Loaded>
  );
}

/** Opens a store by name. Its first entry creates it. */
interface NewStoreProps {
  readonly addressOf: (store: string) => string;
  /** True where the page has nothing else to create. */
  readonly isFirst: boolean;
}

function NewStore({ addressOf, isFirst }: NewStoreProps) {
  const [, go] = useLocation();
  const open = useAction(async (_, name: string) => go(addressOf(name)));
  return (
    <FormDialog
      button={{ icon: "plus", children: "New store", ...(isFirst && { "data-shortcut": "new" }) }}
      title="New store"
      submitLabel="Open store"
      action={open}
      toInput={({ name = "" }) => name}
    >
      <NameField hint="Such as tasks. The first entry creates the store." />
    </FormDialog>
  );
}

function NoStores({ roomId }: { readonly roomId: string }) {
  return (
    <Empty
      title="No stores yet"
      create="Create a store"
      command={["PUT", `/rooms/${roomId}/stores/tasks/milk`, { value: { title: "Buy milk" } }]}
    >
      A store is a map of JSON values that everyone in the room shares; its first entry creates it.
    </Empty>
  );
}

interface EntryTableProps {
  readonly roomId: string;
  readonly store: string;
  readonly total: number | undefined;
}

/** An entry in the form; both are null for a new one. */
interface Edited {
  readonly name: string | null;
  readonly entry: Entry | null;
}

/** Each value is a tree. A changed value is highlighted for a moment. */
function EntryTable({ roomId, store, total }: EntryTableProps) {
  const [search, setSearch] = useState("");
  const { query, position } = useEntryPage(roomId, store, search);
  const [edited, setEdited] = useState<Edited | null>(null);
  const columns: readonly Column<readonly [key: string, entry: Entry]>[] = [
    { label: "Key", cell: ([key]) => <code>{key}</code> },
    { label: "Value", className: "json", cell: ([, { value }]) => <JsonTree value={value} /> },
    { label: "Version", className: "number", cell: ([, { version }]) => version },
    {
      label: "Actions",
      className: "row-actions",
      cell: ([name, entry]) => (
        <>
          <Button variant="quiet" aria-label={`Edit ${name}`} onClick={() => setEdited({ name, entry })}>
            Edit
          </Button>
          <ActionButton
            label="Delete"
            accessibleName={`Delete ${name}`}
            act={({ stores }) => stores.delete(roomId, store, name)}
            options={{
              toast: "Entry deleted",
              // Unless someone has set it again meanwhile.
              undo: ({ stores }) => stores.set(roomId, store, name, entry.value, { ifVersion: 0 }),
              refreshes: queriesOf(roomId, store),
            }}
          />
        </>
      ),
    },
  ];
  return (
    <Loaded query={query} shape="list">
      {({ entries: shown }) => (
        <>
          <div className="filters">
            <SearchBox label="Find keys that begin with …" initial="" onSearch={setSearch} />
            <Button
              variant="primary"
              icon="plus"
              data-shortcut="new"
              onClick={() => setEdited({ name: null, entry: null })}
            >
              New entry
            </Button>
          </div>
          {shown.length === 0 && (
            <Empty
              title={search === "" ? `${store} is empty` : "No matching keys"}
              create="Create an entry"
              command={["PUT", `/rooms/${roomId}/stores/tasks/milk`, { value: { title: "Buy milk" } }]}
            >
              Entries appear here as soon as they are set.
            </Empty>
          )}
          <Table label={`Entries of ${store}`} items={shown} idOf={([key]) => key} columns={columns} />
          <EntryPager
            {...{ position, store }}
            shown={shown.length}
            total={search === "" ? total : undefined}
          />
          {edited && <EntryForm {...{ roomId, store }} {...edited} onClose={() => setEdited(null)} />}
        </>
      )}
    </Loaded>
  );
}

const useStores = (roomId: string) =>
  useApiQuery(["room", roomId, "stores"], ({ stores }) => stores.list(roomId), {
    refetchInterval: useRefreshMs(),
  });

/** Larger pages are slow to render. */
const PAGE_SIZE = 100;

/** One page at a time, however many there are. `prefix` is the beginning of the keys; empty for all. */
function useEntryPage(roomId: string, store: string, prefix = "") {
  /** The last key of each page before this one. */
  const [passed, setPassed] = useState<{ readonly prefix: string; readonly keys: readonly string[] }>({
    prefix,
    keys: [],
  });
  const keys = passed.prefix === prefix ? passed.keys : [];
  const after = keys.at(-1);
  const query = useApiQuery(
    ["room", roomId, "entries", store, { prefix, after }],
    async ({ stores }) => {
      // The keys that begin with a text follow it; the text itself may be one.
      const from = after ?? (prefix === "" ? undefined : prefix);
      const [page, exact] = await Promise.all([
        stores.getPage(roomId, store, { limit: PAGE_SIZE, ...(from !== undefined && { after: from }) }),
        prefix !== "" && after === undefined ? orNull(stores.get(roomId, store, prefix)) : null,
      ]);
      const found = Object.entries(page.entries).filter(([one]) => one.startsWith(prefix));
      const entries: readonly (readonly [key: string, entry: Entry])[] =
        exact === null ? found : [[prefix, exact], ...found];
      return {
        entries: entries.toSorted(([a], [b]) => (a < b ? -1 : 1)),
        next: page.next?.startsWith(prefix) ? page.next : undefined,
      };
    },
    { refetchInterval: useRefreshMs() },
  );
  const next = query.data?.next;
  const position = {
    /** The number of entries on earlier pages. */
    offset: keys.length * PAGE_SIZE,
    hasNext: next !== undefined,
    goNext: () => next !== undefined && setPassed({ prefix, keys: [...keys, next] }),
    goBack: () => setPassed({ prefix, keys: keys.slice(0, -1) }),
  };
  return { query, position };
}

interface EntryPagerProps {
  readonly position: ReturnType<typeof useEntryPage>["position"];
  /** The number of entries on the page. */
  readonly shown: number;
  /** The number of entries in the store, if known. */
  readonly total: number | undefined;
  readonly store: string;
}

function EntryPager({ position, shown, total, store }: EntryPagerProps) {
  const { offset, hasNext, goNext, goBack } = position;
  if (offset === 0 && !hasNext) return null;
  return (
    <nav className="pager" aria-label={`Pages of ${store}`}>
      <span className="soft" role="status">
        {(offset + 1).toLocaleString("en")}–{(offset + shown).toLocaleString("en")}
        {total !== undefined && ` of ${total.toLocaleString("en")}`}
      </span>
      <Button icon="left" disabled={offset === 0} onClick={goBack}>
        Previous
      </Button>
      <Button icon="right" disabled={!hasNext} onClick={goNext}>
        Next
      </Button>
    </nav>
  );
}
