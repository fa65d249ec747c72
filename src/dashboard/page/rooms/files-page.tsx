/** The files of all rooms, found by name. */
import type { FoundFile } from "atrium/server";
import { Link } from "wouter";
import { chosen, useFilters } from "../data/filters.ts";
import { useApiQuery } from "../data/organization.tsx";
import { Button } from "../ui/button.tsx";
import { Empty, Loaded } from "../ui/feedback.tsx";
import { SearchBox } from "../ui/fields.tsx";
import { Page } from "../ui/page.tsx";
import { type Column, CursorPager, Table } from "../ui/table.tsx";
import { formatSize, Time } from "../ui/time.tsx";

const PAGE_SIZE = 25;
const REFRESH_MS = 15_000;

export default function FilesPage() {
  const filters = useFilters();
  const { get, set, search, searchFor, after, isNarrowed } = filters;
  const narrowed = chosen({ roomId: get("room"), userId: get("by") });
  const query = { limit: PAGE_SIZE, ...chosen({ search, after }), ...narrowed };
  const files = useApiQuery(["files", query], (atrium) => atrium.files.find(query), {
    refetchInterval: REFRESH_MS,
  });
  const columns: readonly Column<FoundFile>[] = [
    {
      label: "Name",
      cell: ({ url, filename }) => (
        <a href={new URL(url).pathname} target="_blank" rel="noreferrer">
          {filename}
        </a>
      ),
    },
    {
      label: "Room",
      cell: ({ roomId, roomName }) => <Link href={`/rooms/${roomId}/files`}>{roomName}</Link>,
    },
    {
      label: "Uploaded by",
      cell: ({ uploadedBy, uploaderName }) => (
        <Button
          variant="quiet"
          aria-label={`Only files of ${uploaderName ?? "a workflow"}`}
          onClick={() => set("by", uploadedBy)}
        >
          {uploaderName ?? "a workflow"}
        </Button>
      ),
    },
    { label: "Type", cell: ({ mimeType }) => mimeType },
    { label: "Size", className: "number", cell: ({ size }) => formatSize(size) },
    { label: "Uploaded", cell: ({ uploadedAt }) => <Time at={uploadedAt} /> },
  ];
  return (
    <Page title="Files">
      <div className="filters">
        <SearchBox label="Search files by name" initial={search} onSearch={searchFor} />
        {narrowed.roomId && (
          <Button icon="close" onClick={() => set("room", "")}>
            Files of all rooms
          </Button>
        )}
        {narrowed.userId && (
          <Button icon="close" onClick={() => set("by", "")}>
            Files of everyone
          </Button>
        )}
      </div>
      <Loaded query={files}>
        {(data) => (
          <>
            <Table label="Files" items={data.files} idOf={({ key }) => key} columns={columns} />
            {data.files.length === 0 && <NoFiles isNarrowed={isNarrowed} goesOn={data.cursor !== null} />}
            <CursorPager filters={filters} cursor={data.cursor} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

/** A search reads some thousand names a page, and may find none among them. */
const NoFiles = ({ isNarrowed, goesOn }: { readonly isNarrowed: boolean; readonly goesOn: boolean }) =>
  goesOn ? (
    <Empty title="No matching files among these">
      <p>There are older files that were not searched yet: go on with Older.</p>
    </Empty>
  ) : (
    <Empty title={isNarrowed ? "No matching files" : "No files yet"}>
      <p>Users upload files in their rooms. All of them are listed here, and can be found by name.</p>
    </Empty>
  );
