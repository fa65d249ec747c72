/** The documents of a room, with who has each open. */
import type { DocumentSummary } from "atrium/server";
import { Link } from "wouter";
import { useAddress } from "../data/organization.tsx";
import { pathPartOf } from "../data/path-name.ts";
import { usePage } from "../data/use-page.ts";
import { useNames } from "../live/use-names.ts";
import { Empty } from "../ui/empty.tsx";
import { ErrorMessage } from "../ui/error-message.tsx";
import { Loading } from "../ui/loading.tsx";
import { Pager } from "../ui/pager.tsx";
import { SearchBox } from "../ui/search-box.tsx";
import { formatSize } from "../ui/size.ts";
import { Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { joinNames } from "./use-author-names.ts";
import { useDocuments } from "./use-documents.ts";

export function DocumentsPart({ roomId }: { readonly roomId: string }) {
  const { limit, offset, search, searchFor, goTo } = usePage();
  const { data, error, refetch } = useDocuments(roomId);
  const found = data?.filter(({ name }) => name.toLowerCase().includes(search.toLowerCase())) ?? [];
  return (
    <section>
      {data !== undefined && data.length > 0 && (
        <div className="filters">
          <SearchBox label="Search documents by name" initial={search} onSearch={searchFor} />
        </div>
      )}
      <ErrorMessage error={error} onRetry={refetch} />
      {data === undefined && !error && <Loading />}
      {found.length > 0 && <DocumentTable roomId={roomId} documents={found.slice(offset, offset + limit)} />}
      {data !== undefined && found.length === 0 && <NoDocuments isFiltered={data.length > 0} />}
      <Pager offset={offset} limit={limit} total={found.length} goTo={goTo} />
    </section>
  );
}

interface DocumentTableProps {
  readonly roomId: string;
  readonly documents: readonly DocumentSummary[];
}

function DocumentTable({ roomId, documents }: DocumentTableProps) {
  const address = useAddress();
  const { nameOf } = useNames(roomId);
  return (
    <Table label="Documents" columns={["Name", "In it now", "Size", "Sequence", "Last change", "Created"]}>
      {documents.map(({ name, bytes, seq, updated_at, created_at, participants, participant_ids }) => (
        <tr key={name}>
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
