/** The documents of a room, with who has each open. All of them are here, so the page itself finds and sorts them. */
import type { DocumentSummary } from "atrium/server";
import { Link } from "wouter";
import { useKey } from "../data/organization.tsx";
import { pathPartOf } from "../data/path-name.ts";
import { useAddress } from "../data/use-address.ts";
import { type Filters, useFilters } from "../data/use-filters.ts";
import { useSelection } from "../data/use-selection.ts";
import { useNames } from "../live/use-names.ts";
import { Empty, ErrorMessage, Loading } from "../ui/feedback.tsx";
import { SearchBox } from "../ui/fields.tsx";
import { SelectCell } from "../ui/select-box.tsx";
import { SelectionBar } from "../ui/several.tsx";
import { formatSize } from "../ui/size.ts";
import { Pager, Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { sortDocuments } from "./sort-documents.ts";
import { joinNames } from "./use-author-names.ts";
import { useDocumentActions, useDocuments } from "./use-documents.ts";

export function DocumentsPart({ roomId }: { readonly roomId: string }) {
  const filters = useFilters();
  const { limit, offset, search, searchFor, sort } = filters;
  const { data, error, refetch } = useDocuments(roomId);
  const found = data?.filter(({ name }) => name.toLowerCase().includes(search.toLowerCase())) ?? [];
  const shown = sortDocuments(found, sort).slice(offset, offset + limit);
  return (
    <section>
      {data !== undefined && data.length > 0 && (
        <div className="filters">
          <SearchBox label="Search documents by name" initial={search} onSearch={searchFor} />
        </div>
      )}
      <ErrorMessage error={error} onRetry={refetch} />
      {data === undefined && !error && <Loading />}
      {data && <DocumentTable {...{ roomId, filters }} documents={shown} />}
      {data !== undefined && found.length === 0 && <NoDocuments isFiltered={data.length > 0} />}
      <Pager filters={filters} total={found.length} />
    </section>
  );
}

interface DocumentTableProps {
  readonly roomId: string;
  readonly documents: readonly DocumentSummary[];
  readonly filters: Filters;
}

const COLUMNS = [
  { label: "Name", sort: "name" },
  { label: "In it now", sort: "participants" },
  { label: "Size", sort: "bytes" },
  { label: "Sequence", sort: "seq" },
  { label: "Last change", sort: "updated_at" },
  { label: "Created", sort: "created_at" },
];

function DocumentTable({ roomId, documents, filters }: DocumentTableProps) {
  const address = useAddress();
  const key = useKey();
  const { nameOf } = useNames(roomId);
  const selection = useSelection(documents, ({ name }) => name);
  const actions = useDocumentActions(roomId);
  return (
    <>
      {documents.length > 0 && (
        <Table label="Documents" columns={COLUMNS} {...{ selection, filters }}>
          {documents.map(({ name, bytes, seq, updated_at, created_at, participants, participant_ids }) => (
            <tr key={name} data-selected={selection.has(name) || undefined}>
              <SelectCell selection={selection} id={name} name={name} />
              <th scope="row">
                <Link href={address(`/rooms/${roomId}/documents/${pathPartOf(name)}`)}>{name}</Link>
              </th>
              <td>
                {participants === 0 ? (
                  <span className="soft">–</span>
                ) : (
                  joinNames(participant_ids.map(nameOf), participants)
                )}
              </td>
              <td className="number">{formatSize(bytes)}</td>
              <td className="number">{seq.toLocaleString("en")}</td>
              <td>
                <Time at={updated_at} />
              </td>
              <td>
                <Time at={created_at} />
              </td>
            </tr>
          ))}
        </Table>
      )}
      <SelectionBar
        selection={selection}
        noun={{ one: "document", many: "documents" }}
        nameOf={({ name }) => name}
        actions={actions}
        invalidates={[key("room", roomId, "documents")]}
      />
    </>
  );
}

const NoDocuments = ({ isFiltered }: { readonly isFiltered: boolean }) =>
  isFiltered ? (
    <Empty title="No matching documents">
      <p>Try another part of the name.</p>
    </Empty>
  ) : (
    <Empty title="No documents yet">
      <p>A document is text, or anything else that Yjs holds, which several users edit at once:</p>
      <p>
        <code>openDocument(client, "notes")</code>
      </p>
    </Empty>
  );
