/** The files of all rooms, found by name. */

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { FileSearch, FoundFile } from "atrium/server";
import { Link } from "wouter";
import { useCurrent, useKey } from "../data/organization.tsx";
import { useAddress } from "../data/use-address.ts";
import { chosen, useFilters } from "../data/use-filters.ts";
import { Button } from "../ui/button.tsx";
import { Empty, ErrorMessage, Loading } from "../ui/feedback.tsx";
import { SearchBox } from "../ui/fields.tsx";
import { Page } from "../ui/page.tsx";
import { formatSize } from "../ui/size.ts";
import { CursorPager, Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";

/** The query for files of all rooms, or of one. */
const REFRESH_MS = 15_000;

interface FoundFilesQuery extends FileSearch {
  readonly limit: number;
  readonly after?: string;
}

function useFoundFiles(query: FoundFilesQuery) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useQuery({
    queryKey: key("files", query),
    queryFn: () => atrium.files.find(query),
    refetchInterval: REFRESH_MS,
    placeholderData: keepPreviousData,
  });
}

const PAGE_SIZE = 25;

export default function FilesPage() {
  const { get, set, search, searchFor, after, goAfter, isNarrowed } = useFilters();
  const narrowed = chosen({ roomId: get("room"), userId: get("by") });
  const query = { limit: PAGE_SIZE, ...chosen({ search, after }), ...narrowed };
  const { data, error, refetch } = useFoundFiles(query);
  return (
    <Page title="Files">
      <div className="filters">
        <SearchBox label="Search files by name" initial={search} onSearch={searchFor} />
        {query.roomId && (
          <Button icon="close" onClick={() => set("room", "")}>
            Files of all rooms
          </Button>
        )}
        {query.userId && (
          <Button icon="close" onClick={() => set("by", "")}>
            Files of everyone
          </Button>
        )}
      </div>
      <ErrorMessage error={error} onRetry={refetch} />
      {data === undefined && !error && <Loading />}
      {data && data.files.length > 0 && (
        <FileTable files={data.files} onChooseUploader={(userId) => set("by", userId)} />
      )}
      {data?.files.length === 0 && <NothingHere isNarrowed={isNarrowed} goesOn={data.cursor !== null} />}
      {data && <CursorPager after={after} cursor={data.cursor} goAfter={goAfter} />}
    </Page>
  );
}

const COLUMNS = ["Name", "Room", "Uploaded by", "Type", "Size", "Uploaded"];

interface FileTableProps {
  readonly files: readonly FoundFile[];
  readonly onChooseUploader: (userId: string) => void;
}

function FileTable({ files, onChooseUploader }: FileTableProps) {
  const address = useAddress();
  return (
    <Table label="Files" columns={COLUMNS}>
      {files.map((file) => (
        <tr key={file.key}>
          <th scope="row">
            <a href={new URL(file.url).pathname} target="_blank" rel="noreferrer">
              {file.filename}
            </a>
          </th>
          <td>
            <Link href={address(`/rooms/${file.roomId}/files`)}>{file.roomName}</Link>
          </td>
          <td>
            <Button
              variant="quiet"
              aria-label={`Only files of ${file.uploaderName ?? "a workflow"}`}
              onClick={() => onChooseUploader(file.uploadedBy)}
            >
              {file.uploaderName ?? "a workflow"}
            </Button>
          </td>
          <td>{file.mimeType}</td>
          <td className="number">{formatSize(file.size)}</td>
          <td>
            <Time at={file.uploadedAt} />
          </td>
        </tr>
      ))}
    </Table>
  );
}

/** Of very many files, each page reads some thousand names, and may find none among them. */
const NothingHere = ({ isNarrowed, goesOn }: { readonly isNarrowed: boolean; readonly goesOn: boolean }) =>
  goesOn ? (
    <Empty title="No matching files among these">
      <p>There are older files that were not searched yet: go on with Older.</p>
    </Empty>
  ) : (
    <Empty title={isNarrowed ? "No matching files" : "No files yet"}>
      <p>Users upload files in their rooms. All of them are listed here, and can be found by name.</p>
    </Empty>
  );
