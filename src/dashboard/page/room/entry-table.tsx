/** The entries of a store. A changed value is highlighted for a moment. */
import type { Entry } from "atrium/server";
import { useState } from "react";
import { Button } from "../ui/button.tsx";
import { ConfirmButton } from "../ui/confirm.tsx";
import { Empty } from "../ui/empty.tsx";
import { ErrorMessage } from "../ui/error-message.tsx";
import { Loading } from "../ui/loading.tsx";
import { Pager } from "../ui/pager.tsx";
import { SearchBox } from "../ui/search-box.tsx";
import { Table } from "../ui/table.tsx";
import { EntryForm } from "./entry-form.tsx";
import { useDeleteEntry, useEntries } from "./use-stores.ts";

/** Larger pages are slow to render. */
const PAGE_SIZE = 100;

export interface StoreProps {
  readonly roomId: string;
  readonly store: string;
}

interface Edited {
  /** Null for a new one. */
  readonly name: string | null;
  readonly entry: Entry | null;
}

export function EntryTable({ roomId, store }: StoreProps) {
  const { data, error, refetch } = useEntries(roomId, store);
  const [search, setSearch] = useState("");
  const [offset, setOffset] = useState(0);
  const [edited, setEdited] = useState<Edited | null>(null);
  if (data === undefined) return error ? <ErrorMessage error={error} onRetry={refetch} /> : <Loading />;
  const all = Object.entries(data.entries).filter(([key]) =>
    key.toLowerCase().includes(search.toLowerCase()),
  );
  const shown = all.sort(([a], [b]) => (a < b ? -1 : 1)).slice(offset, offset + PAGE_SIZE);
  return (
    <>
      <div className="filters">
        <SearchBox
          label="Search keys"
          initial=""
          onSearch={(text) => {
            setOffset(0);
            setSearch(text);
          }}
        />
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
      {data.next !== undefined && (
        <p>Only the store's first entries are shown here; the API has all of them.</p>
      )}
      <Pager offset={offset} limit={PAGE_SIZE} total={all.length} goTo={setOffset} />
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
  const [first] = useState(entry.version);
  return (
    <tr>
      <th scope="row">
        <code>{name}</code>
      </th>
      <td className="json">
        {/* A new element per version restarts the animation. */}
        <code key={entry.version} className={entry.version === first ? undefined : "changed"}>
          {JSON.stringify(entry.value)}
        </code>
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
