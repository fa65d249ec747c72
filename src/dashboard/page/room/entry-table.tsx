/** The entries of a store. What has just changed stands out for a moment. */
import type { Entry } from "atrium/server";
import { useState } from "react";
import { Button } from "../ui/button.tsx";
import { ConfirmButton } from "../ui/confirm.tsx";
import { Empty } from "../ui/empty.tsx";
import { Refusal } from "../ui/error-message.tsx";
import { Loading } from "../ui/loading.tsx";
import { Pager } from "../ui/pager.tsx";
import { SearchBox } from "../ui/search-box.tsx";
import { Table } from "../ui/table.tsx";
import { EntryForm } from "./entry-form.tsx";
import { useDeleteEntry, useEntries } from "./use-stores.ts";

/** More than that at once is slow to draw, and nobody reads it. */
const SHOWN = 100;

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
  if (data === undefined) return error ? <Refusal error={error} onRetry={refetch} /> : <Loading />;
  const all = Object.entries(data.entries).filter(([key]) =>
    key.toLowerCase().includes(search.toLowerCase()),
  );
  const shown = all.sort(([a], [b]) => (a < b ? -1 : 1)).slice(offset, offset + SHOWN);
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
          look="primary"
          icon="plus"
          data-shortcut="new"
          onClick={() => setEdited({ name: null, entry: null })}
        >
          New entry
        </Button>
      </div>
      <Refusal error={error} />
      {shown.length === 0 ? (
        <Empty title={search === "" ? `Nothing is in ${store}` : "No key is like that"}>
          <p>An entry that somebody sets shows here by itself.</p>
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
      <Pager offset={offset} limit={SHOWN} total={all.length} turnTo={setOffset} />
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
        {/* Another element for another version, so that the change is animated. */}
        <code key={entry.version} className={entry.version === first ? undefined : "changed"}>
          {JSON.stringify(entry.value)}
        </code>
      </td>
      <td className="number">{entry.version}</td>
      <td className="row-actions">
        <Button look="quiet" aria-label={`Edit ${name}`} onClick={onEdit}>
          Edit
        </Button>
        <ConfirmButton
          label="Delete"
          accessibleName={`Delete ${name}`}
          look="quiet"
          title={`Delete ${name}?`}
          verb="Delete entry"
          act={remove}
        >
          <p>Everybody in the room sees it go.</p>
        </ConfirmButton>
      </td>
    </tr>
  );
}
