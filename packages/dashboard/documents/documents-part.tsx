/** The documents of a room, with who has each open. All of them are here, so the page itself finds and sorts them. */

import type { DocumentSummary } from "atrium/server";
import { Link } from "wouter";
import { pathPartOf } from "../data/address.ts";
import { type Filters, useFilters } from "../data/filters.ts";
import { joinNames } from "../data/messages.ts";
import { useApiQuery, useCurrent } from "../data/organization.tsx";
import { LIVE_REFRESH_MS, useNames } from "../live/live.tsx";
import { oneByOne } from "../ui/bulk-dialog.tsx";
import { Empty, Loaded } from "../ui/feedback.tsx";
import { ListFilters } from "../ui/list-filters.tsx";
import { SelectableTable } from "../ui/selectable.tsx";
import { type Column, Pager } from "../ui/table.tsx";
import { formatSize, Time } from "../ui/time.tsx";
import { sortDocuments } from "./document.ts";

/** All of a room's documents, of which there are at most 1,000, by name. */
export const useDocuments = (roomId: string) =>
  useApiQuery(["room", roomId, "documents"], ({ documents }) => documents.list(roomId), {
    refetchInterval: LIVE_REFRESH_MS,
  });

const fold = (text: string): string => text.normalize("NFC").toLowerCase();

export function DocumentsPart({ roomId }: { readonly roomId: string }) {
  const { documents } = useCurrent().atrium;
  const filters = useFilters();
  const { limit, offset, search, sort } = filters;
  const { nameOf } = useNames(roomId);
  const columns: readonly Column<DocumentSummary>[] = [
    {
      label: "Name",
      sort: "name",
      cell: ({ name }) => <Link href={`/rooms/${roomId}/documents/${pathPartOf(name)}`}>{name}</Link>,
    },
    {
      label: "In it now",
      sort: "participants",
      cell: ({ participants, participant_ids: ids }) =>
        participants === 0 ? <span className="soft">–</span> : joinNames(ids.map(nameOf), participants),
    },
    { label: "Size", sort: "bytes", className: "number", cell: ({ bytes }) => formatSize(bytes) },
    { label: "Sequence", sort: "seq", className: "number", cell: ({ seq }) => seq.toLocaleString("en") },
    { label: "Last change", sort: "updated_at", cell: ({ updated_at }) => <Time at={updated_at} /> },
    { label: "Created", sort: "created_at", cell: ({ created_at }) => <Time at={created_at} /> },
  ];
  return (
    <section>
      <Loaded query={useDocuments(roomId)} shape="list">
        {(all) => {
          const found = all.filter(({ name }) => fold(name).includes(fold(search)));
          return (
            <>
              {all.length > 0 && <ListFilters label="Search documents by name" filters={filters} />}
              <SelectableTable
                label="Documents"
                noun={{ one: "document", many: "documents" }}
                items={sortDocuments(found, sort).slice(offset, offset + limit)}
                idOf={({ name }) => name}
                nameOf={({ name }) => name}
                {...{ columns, filters }}
                actions={[
                  {
                    label: "Delete",
                    done: "deleted",
                    consequences:
                      "Their content and all their versions are deleted for everyone in the room. This cannot be undone.",
                    isDanger: true,
                    isTyped: true,
                    run: oneByOne(({ name }) => documents.delete(roomId, name)),
                  },
                ]}
                refreshes={[["room", roomId, "documents"]]}
              />
              {found.length === 0 && <NoDocuments {...{ roomId, filters }} />}
              <Pager filters={filters} total={found.length} />
            </>
          );
        }}
      </Loaded>
    </section>
  );
}

/** A Yjs update: the text `default` is "Hello". */
const HELLO = "AQEBAAQBB2RlZmF1bHQFSGVsbG8A";

const NoDocuments = ({ roomId, filters }: { readonly roomId: string; readonly filters: Filters }) => (
  <Empty
    title="No documents yet"
    filters={filters}
    command={["PUT", `/rooms/${roomId}/documents/notes`, { update: HELLO }]}
    action={
      <a className="button plain" href="/docs/guides/documents">
        Read how to open one
      </a>
    }
  >
    A document is text, or anything else that Yjs holds, which several users edit at once with{" "}
    <code>openDocument(client, "notes")</code>.
  </Empty>
);
