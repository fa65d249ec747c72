/** The files of a room, with an upload area. */
import type { Room, StorageFile } from "atrium/server";
import { Link } from "wouter";
import { useKey } from "../data/organization.tsx";
import { useAddress } from "../data/use-address.ts";
import { sortedBy, useFilters } from "../data/use-filters.ts";
import { useSelection } from "../data/use-selection.ts";
import { type Names, useNames } from "../live/use-names.ts";
import { Empty, ErrorMessage, Loading } from "../ui/feedback.tsx";
import { FilterSelect } from "../ui/fields.tsx";
import { SelectAllRow } from "../ui/select-box.tsx";
import { SelectionBar } from "../ui/several.tsx";
import { Pager } from "../ui/table.tsx";
import { FileCard } from "./file-card.tsx";
import { UploadArea } from "./upload-area.tsx";
import { useFileActions, useFiles } from "./use-files.ts";

const KINDS = {
  "image/": "Images",
  "audio/": "Sounds",
  "video/": "Videos",
  "text/": "Texts",
  "application/": "Other files",
};

const ORDERS = {
  uploadedAt: "Oldest first",
  filename: "By name",
  "-size": "Largest first",
  size: "Smallest first",
};

export function FilesPart({ room }: { readonly room: Room }) {
  const address = useAddress();
  const filters = useFilters();
  const { get, limit, offset, sort, isNarrowed } = filters;
  const names = useNames(room.id);
  const { users } = names;
  const [kind, userId] = [get("type"), get("by")];
  const query = {
    ...{ limit, offset, ...(kind && { mimeType: [kind] }), ...(userId && { userId }) },
    ...sortedBy(sort, ["uploadedAt", "filename", "size"]),
  };
  const { data, error, refetch } = useFiles(room.id, query);
  return (
    <section>
      {users && users.length > 0 && <UploadArea room={room} users={users} />}
      {users?.length === 0 && (
        <p className="soft">
          Files belong to a user of the room.{" "}
          <Link href={address(`/rooms/${room.id}/users`)}>Create a user</Link> to upload files.
        </p>
      )}
      <div className="filters">
        <FilterSelect label="Filter by type" filters={filters} name="type" all="All types" options={KINDS} />
        <FilterSelect
          label="Filter by user"
          filters={filters}
          name="by"
          all="Files of all users"
          options={Object.fromEntries((users ?? []).map(({ id, name }) => [id, name]))}
        />
        <FilterSelect label="Order" filters={filters} name="sort" all="Newest first" options={ORDERS} />
        <Link className="button plain" href={address(`/files?room=${room.id}`)}>
          Find by name
        </Link>
      </div>
      <ErrorMessage error={error} onRetry={refetch} />
      {data === undefined && !error && <Loading />}
      {data && <FileCards roomId={room.id} files={data.files} names={names} />}
      {data?.total === 0 && (
        <Empty title={isNarrowed ? "No matching files" : "No files yet"}>
          <p>
            Users upload files of up to 100 MiB with <code>client.storage.upload({"{ file }"})</code>.
          </p>
        </Empty>
      )}
      {data && <Pager filters={filters} total={data.total} />}
    </section>
  );
}

interface FileCardsProps {
  readonly roomId: string;
  readonly files: readonly StorageFile[];
  readonly names: Names;
}

function FileCards({ roomId, files, names: { nameOf } }: FileCardsProps) {
  const key = useKey();
  const selection = useSelection(files, (file) => file.key);
  const actions = useFileActions();
  return (
    <div className="selectable-list" data-selection="">
      {files.length > 1 && <SelectAllRow selection={selection} />}
      <ul className="files">
        {files.map((file) => (
          <FileCard key={file.key} {...{ roomId, file, selection }} uploader={nameOf(file.uploadedBy)} />
        ))}
      </ul>
      <SelectionBar
        selection={selection}
        noun={{ one: "file", many: "files" }}
        nameOf={({ filename }) => filename}
        actions={actions}
        invalidates={[key("room", roomId, "files")]}
      />
    </div>
  );
}
