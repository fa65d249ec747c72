/** The files of a room, with an upload area. */
import type { Room } from "atrium/server";
import { Link, useSearchParams } from "wouter";
import { useAddress } from "../data/organization.tsx";
import { usePage, withParameter } from "../data/use-page.ts";
import { useNames } from "../live/use-names.ts";
import { Empty } from "../ui/empty.tsx";
import { ErrorMessage } from "../ui/error-message.tsx";
import { Loading } from "../ui/loading.tsx";
import { Pager } from "../ui/pager.tsx";
import { SelectField } from "../ui/select-field.tsx";
import { FileCard } from "./file-card.tsx";
import { UploadArea } from "./upload-area.tsx";
import { useFiles } from "./use-files.ts";

const KINDS = ["image/", "audio/", "video/", "text/", "application/"];

export function FilesPart({ room }: { readonly room: Room }) {
  const address = useAddress();
  const { limit, offset, goTo } = usePage();
  const [parameters, setParameters] = useSearchParams();
  const kind = parameters.get("type") ?? "";
  const query = { limit, offset, ...(kind && { mimeType: [kind] }) };
  const { data, error, refetch } = useFiles(room.id, query);
  const { users, nameOf } = useNames(room.id);
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
        <SelectField
          label="Filter by type"
          isLabelHidden
          value={kind}
          onChange={(event) => {
            const { value } = event.currentTarget;
            setParameters((known) => withParameter(withParameter(known, "page", ""), "type", value));
          }}
        >
          <option value="">All types</option>
          {KINDS.map((one) => (
            <option key={one} value={one}>
              {one}*
            </option>
          ))}
        </SelectField>
      </div>
      <ErrorMessage error={error} onRetry={refetch} />
      {data === undefined && !error && <Loading />}
      <ul className="files">
        {data?.files.map((file) => (
          <FileCard key={file.key} roomId={room.id} file={file} uploader={nameOf(file.uploadedBy)} />
        ))}
      </ul>
      {data?.total === 0 && (
        <Empty title={kind === "" ? "No files yet" : "No matching files"}>
          <p>
            Users upload files of up to 100 MiB with <code>client.storage.upload({"{ file }"})</code>.
          </p>
        </Empty>
      )}
      {data && <Pager offset={offset} limit={limit} total={data.total} goTo={goTo} />}
    </section>
  );
}
