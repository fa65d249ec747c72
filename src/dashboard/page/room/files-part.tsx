/** The files of a room: dropped in, looked at, taken away. */
import type { Room } from "atrium/server";
import { Link, useSearchParams } from "wouter";
import { useAddress } from "../data/organization.tsx";
import { usePage, withParameter } from "../data/use-page.ts";
import { Empty } from "../ui/empty.tsx";
import { Refusal } from "../ui/error-message.tsx";
import { Loading } from "../ui/loading.tsx";
import { Pager } from "../ui/pager.tsx";
import { SelectField } from "../ui/select-field.tsx";
import { FileCard } from "./file-card.tsx";
import { UploadArea } from "./upload-area.tsx";
import { useFiles } from "./use-files.ts";
import { useNames } from "./use-names.ts";

const KINDS = ["image/", "audio/", "video/", "text/", "application/"];

export function FilesPart({ room }: { readonly room: Room }) {
  const address = useAddress();
  const { limit, offset, turnTo } = usePage();
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
          A file belongs to a user of the room:{" "}
          <Link href={address(`/rooms/${room.id}/users`)}>make one</Link> first, then drop files here.
        </p>
      )}
      <div className="filters">
        <SelectField
          label="Which files"
          isBare
          value={kind}
          onChange={(event) => {
            const { value } = event.currentTarget;
            setParameters((known) => withParameter(withParameter(known, "page", ""), "type", value));
          }}
        >
          <option value="">Files of all types</option>
          {KINDS.map((one) => (
            <option key={one} value={one}>
              {one}*
            </option>
          ))}
        </SelectField>
      </div>
      <Refusal error={error} onRetry={refetch} />
      {data === undefined && !error && <Loading />}
      <ul className="files">
        {data?.files.map((file) => (
          <FileCard key={file.key} roomId={room.id} file={file} uploader={nameOf(file.uploadedBy)} />
        ))}
      </ul>
      {data?.total === 0 && (
        <Empty title={kind === "" ? "No files yet" : "No file is like that"}>
          <p>
            Users send them with <code>client.storage.upload({"{ file }"})</code>, up to 100 MiB each.
          </p>
        </Empty>
      )}
      {data && <Pager offset={offset} limit={limit} total={data.total} turnTo={turnTo} />}
    </section>
  );
}
