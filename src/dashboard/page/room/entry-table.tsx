/** The entries of a store, each value as a tree. A changed value is highlighted for a moment. */
import type { Entry } from "atrium/server";
import { useState } from "react";
import { Button } from "../ui/button.tsx";
import { ConfirmButton } from "../ui/confirm.tsx";
import { Empty, ErrorMessage, Loading } from "../ui/feedback.tsx";
import { SearchBox } from "../ui/fields.tsx";
import { JsonTree } from "../ui/json-tree.tsx";
import { Table } from "../ui/table.tsx";
import { EntryForm } from "./entry-form.tsx";
import { EntryPager } from "./entry-pager.tsx";
import { useEntryPage } from "./use-entry-page.ts";
import { useDeleteEntry } from "./use-stores.ts";

export interface StoreProps {
  readonly roomId: string;
  readonly store: string;
}

interface Edited {
  /** Null for a new one. */
  readonly name: string | null;
  readonly entry: Entry | null;
}

export function EntryTable({ roomId, store, total }: StoreProps & { readonly total: number | undefined }) {
  const [search, setSearch] = useState("");
  const { data, error, refetch, position } = useEntryPage(roomId, store, search);
  const [edited, setEdited] = useState<Edited | null>(null);
  if (data === undefined) return error ? <ErrorMessage error={error} onRetry={refetch} /> : <Loading />;
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
      <ErrorMessage error={error} />
      {shown.length === 0 ? (
        <Empty title={search === "" ? `${store} is empty` : "No matching keys"}>
          <p>New entries appear here as soon as they are set.</p>
        </Empty>
      ) : (
        <Table label={`Entries of ${store}`} columns={["Key", "Value", "Version", "!Actions"]}>
          {shown.map(([key, entry]) => (
            <Row
              key={key}
              {...{ roomId, store, entry }}
              name={key}
              onEdit={() => setEdited({ name: key, entry })}
            />
          ))}
        </Table>
      )}
      <EntryPager
        position={position}
        shown={shown.length}
        total={search === "" ? total : undefined}
        store={store}
      />
      {edited && <EntryForm {...{ roomId, store }} {...edited} onClose={() => setEdited(null)} />}
    </>
  );
}

interface RowProps extends StoreProps {
  readonly name: string;
  readonly entry: Entry;
  readonly onEdit: () => void;
}

function Row({ roomId, store, name, entry, onEdit }: RowProps) {
  const remove = useDeleteEntry(roomId, store, name);
  return (
    <tr>
      <th scope="row">
        <code>{name}</code>
      </th>
      <td className="json">
        <JsonTree value={entry.value} />
      </td>
      <td className="number">{entry.version}</td>
      <td className="row-actions">
        <Button variant="quiet" aria-label={`Edit ${name}`} onClick={onEdit}>
          Edit
        </Button>
        <ConfirmButton
          label="Delete"
          accessibleName={`Delete ${name}`}
          variant="quiet"
          title={`Delete ${name}?`}
          confirmLabel="Delete entry"
          act={remove}
        >
          <p>It disappears for everyone in the room. This cannot be undone.</p>
        </ConfirmButton>
      </td>
    </tr>
  );
}
