/** The files of all rooms, found by name. */
import type { FoundFile } from "atrium/server";
import { Link } from "wouter";
import { chosen, type Filters, useFilters } from "../data/filters.ts";
import { useApiQuery } from "../data/organization.tsx";
import { Button } from "../ui/button.tsx";
import { Empty, Loaded } from "../ui/feedback.tsx";
import { ListFilters } from "../ui/list-filters.tsx";
import { Page } from "../ui/page.tsx";
import { type Column, CursorPager, Table } from "../ui/table.tsx";
import { formatSize, Time } from "../ui/time.tsx";

const PAGE_SIZE = 25;
const REFRESH_MS = 15_000;

export default function FilesPage() {
  const filters = useFilters();
  const { get, set, search, after } = filters;
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
      <ListFilters label="Search files by name" filters={filters}>
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
      </ListFilters>
      <Loaded query={files} shape="list">
        {(data) => (
          <>
            <Table label="Files" items={data.files} idOf={({ key }) => key} columns={columns} />
            {data.files.length === 0 && <NoFiles filters={filters} hasMore={data.cursor !== null} />}
            <CursorPager filters={filters} cursor={data.cursor} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

interface NoFilesProps {
  readonly filters: Filters;
  readonly hasMore: boolean;
}

/** A search reads some thousand names a page, and may find none among them. */
function NoFiles({ filters, hasMore }: NoFilesProps) {
  if (hasMore)
    return (
      <Empty title="No matching files among these">
        There are older files that were not searched yet: select Older.
      </Empty>
    );
  return (
    <Empty
      title="No files yet"
      filters={filters}
      action={
        <Link className="button plain" href="/rooms">
          Choose a room
        </Link>
      }
      command={["POST", "/upload", ["roomId=ROOM_ID", "userId=USER_ID", "file=@plan.png"]]}
    >
      Users upload files in their rooms, and all of them are listed here.
    </Empty>
  );
}
