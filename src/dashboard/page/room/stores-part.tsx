/** The stores of a room: one at a time, as a table that updates live. */
import type { Entry } from "atrium/server";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import { pathPartOf } from "../data/address.ts";
import { useAction } from "../data/organization.tsx";
import { JoinBar } from "../live/live.tsx";
import { Button } from "../ui/button.tsx";
import { ConfirmAction, FormDialog } from "../ui/dialog.tsx";
import { Empty, Loaded } from "../ui/feedback.tsx";
import { SearchBox, TextField } from "../ui/fields.tsx";
import { JsonTree } from "../ui/json-tree.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { EntryPager, queriesOf, useEntryPage, useStores } from "./entries.tsx";
import { EntryForm } from "./entry-form.tsx";

interface StoresPartProps {
  readonly roomId: string;
  readonly chosen: string | undefined;
}

export function StoresPart({ roomId, chosen }: StoresPartProps) {
  const stores = useStores(roomId);
  const addressOf = (store: string) => `/rooms/${roomId}/stores/${pathPartOf(store)}`;
  const shown = chosen ?? stores.data?.[0]?.name;
  return (
    <Loaded query={stores}>
      {(data) => (
        <section>
          <JoinBar />
          <div className="filters">
            <nav className="chips" aria-label="Stores">
              {data.map(({ name, entries }) => (
                <Link key={name} href={addressOf(name)} aria-current={name === shown ? "page" : undefined}>
                  {name} <span className="soft">{entries}</span>
                </Link>
              ))}
            </nav>
            <NewStore addressOf={addressOf} />
          </div>
          {shown === undefined ? (
            <NoStores />
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
function NewStore({ addressOf }: { readonly addressOf: (store: string) => string }) {
  const [, go] = useLocation();
  const open = useAction(async (_, name: string) => go(addressOf(name)));
  return (
    <FormDialog
      button={{ icon: "plus", children: "New store" }}
      title="New store"
      submitLabel="Open store"
      action={open}
      toInput={({ name = "" }) => name}
    >
      <TextField
        label="Name"
        name="name"
        required
        maxLength={255}
        hint="Such as tasks. The first entry creates the store."
      />
    </FormDialog>
  );
}

const NoStores = () => (
  <Empty title="No stores yet">
    <p>A store is a map of JSON values that everyone in the room shares. Its first entry creates it:</p>
    <p>
      <code>client.store("tasks").set("milk", {'{ title: "Buy milk" }'})</code>
    </p>
  </Empty>
);

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
  const columns: readonly Column<[key: string, entry: Entry]>[] = [
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
          <ConfirmAction
            label="Delete"
            accessibleName={`Delete ${name}`}
            variant="quiet"
            title={`Delete ${name}?`}
            confirmLabel="Delete entry"
            act={({ stores }) => stores.delete(roomId, store, name)}
            options={{ notice: "Entry deleted", refreshes: queriesOf(roomId, store) }}
          >
            <p>It disappears for everyone in the room. This cannot be undone.</p>
          </ConfirmAction>
        </>
      ),
    },
  ];
  return (
    <Loaded query={query}>
      {(data) => {
        const shown = Object.entries(data.entries).sort(([a], [b]) => (a < b ? -1 : 1));
        return (
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
              <Empty title={search === "" ? `${store} is empty` : "No matching keys"}>
                <p>New entries appear here as soon as they are set.</p>
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
        );
      }}
    </Loaded>
  );
}
