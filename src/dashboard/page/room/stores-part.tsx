/** The stores of a room: one at a time, as a table that updates live, and the dialog that sets an entry. */
import { AtriumError, type Entry } from "atrium/server";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import { pathPartOf } from "../data/address.ts";
import { orNull, useAction, useCurrent } from "../data/organization.tsx";
import { JoinBar } from "../live/live.tsx";
import { Button, CodeBlock } from "../ui/button.tsx";
import { ConfirmAction, Dialog } from "../ui/dialog.tsx";
import { Empty, Loaded } from "../ui/feedback.tsx";
import { NameField, SearchBox, TextField } from "../ui/fields.tsx";
import { Form, FormDialog } from "../ui/form.tsx";
import { JsonTree } from "../ui/json-tree.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { EntryPager, useEntryPage, useStores } from "./entries.tsx";

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
      <NameField hint="Such as tasks. The first entry creates the store." />
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

/** Prefixes of the queries that a write to a store concerns. */
const queriesOf = (roomId: string, store: string) => [
  ["room", roomId, "entries", store],
  ["room", roomId, "stores"],
];

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
      )}
    </Loaded>
  );
}

/** The entry as it became while it was edited; null for `entry` when it was deleted. */
interface Conflict {
  readonly entry: Entry | null;
}

interface EntryFormProps {
  readonly roomId: string;
  readonly store: string;
  /** Null for a new one. */
  readonly name: string | null;
  readonly entry: Entry | null;
  readonly onClose: () => void;
}

interface EntryWrite {
  readonly key: string;
  readonly value: unknown;
}

const textOf = (entry: Entry): string => JSON.stringify(entry.value, null, 2);

function EntryForm({ roomId, store, name, entry, onClose }: EntryFormProps) {
  const { stores } = useCurrent().atrium;
  const [parseError, setParseError] = useState<Error | null>(null);
  const [conflict, setConflict] = useState<Conflict | null>(null);
  /** The value that the text field begins with: another one starts anew. */
  const [initial, setInitial] = useState(entry);
  const known = conflict === null ? initial : conflict.entry;
  const set = useAction(
    (_, { key, value }: EntryWrite) =>
      stores.set(roomId, store, key, value, { ifVersion: known?.version ?? 0 }),
    { refreshes: queriesOf(roomId, store), onDone: onClose },
  );
  const save = async (write: EntryWrite) => {
    try {
      await set.mutateAsync(write);
    } catch (error) {
      if (!(error instanceof AtriumError) || error.code !== "CONFLICT") return; // the form shows it
      const current = await orNull(stores.get(roomId, store, write.key)).catch(() => undefined);
      if (current === undefined) return;
      set.reset();
      setConflict({ entry: current });
    }
  };
  const toInput = ({ key = name ?? "", value = "" }) => {
    try {
      setParseError(null);
      return { key, value: JSON.parse(value) as unknown };
    } catch (error) {
      setParseError(
        new Error(`The value is not valid JSON: ${error instanceof Error ? error.message : ""}.`),
      );
      return undefined;
    }
  };
  return (
    <Dialog title={name === null ? "New entry" : name} isOpen onClose={onClose} isWide>
      <Form
        submitLabel={conflict === null ? "Save" : "Replace it with mine"}
        action={{
          isPending: set.isPending,
          error: parseError ?? set.error,
          mutate: (write) => void save(write),
        }}
        toInput={toInput}
        onCancel={onClose}
      >
        {name === null && <TextField label="Key" name="key" required />}
        {conflict && (
          <CurrentValue
            {...conflict}
            onTake={() => {
              setInitial(conflict.entry);
              setConflict(null);
            }}
          />
        )}
        <TextField
          key={initial?.version ?? 0}
          label={conflict === null ? "Value" : "Your value"}
          name="value"
          hint="JSON."
          rows={10}
          required
          defaultValue={initial === null ? "{}" : textOf(initial)}
        />
      </Form>
    </Dialog>
  );
}

interface CurrentValueProps extends Conflict {
  /** Goes on with the current value instead of one's own. */
  readonly onTake: () => void;
}

const CurrentValue = ({ entry, onTake }: CurrentValueProps) =>
  entry === null ? (
    <p role="alert">The entry was deleted while you edited it. Saving creates it again.</p>
  ) : (
    <div className="form" role="alert">
      <p>The entry has changed while you edited it. It is now:</p>
      <CodeBlock text={textOf(entry)} what="Current value" />
      <Button onClick={onTake}>Edit this one instead</Button>
    </div>
  );
