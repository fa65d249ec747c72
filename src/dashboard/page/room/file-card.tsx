/** A file with a preview, where that is safe, and a link to open it. */
import type { StorageFile } from "atrium/server";
import type { Selection } from "../data/use-selection.ts";
import { Icon } from "../ui/button.tsx";
import { ConfirmButton } from "../ui/confirm.tsx";
import { CopyButton } from "../ui/copy.tsx";
import { SelectBox } from "../ui/select-box.tsx";
import { formatSize } from "../ui/size.ts";
import { Time } from "../ui/time.tsx";
import { useDeleteFile } from "./use-files.ts";

/** Image types that the service serves inline. */
const IMAGE_TYPES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"]);

export interface FileCardProps {
  readonly roomId: string;
  readonly file: StorageFile;
  readonly uploader: string;
  readonly selection: Selection<StorageFile>;
}

export function FileCard({ roomId, file, uploader, selection }: FileCardProps) {
  const remove = useDeleteFile(roomId, file.key);
  // Same-origin, whatever host name the service was reached under.
  const address = new URL(file.url).pathname;
  return (
    <li className="file" data-selected={selection.has(file.key) || undefined}>
      <SelectBox selection={selection} id={file.key} name={file.filename} />
      <a
        href={address}
        target="_blank"
        rel="noreferrer"
        className="preview"
        aria-label={`Open ${file.filename}`}
      >
        {IMAGE_TYPES.has(file.mimeType) ? <img src={address} alt="" loading="lazy" /> : <Icon name="file" />}
      </a>
      <p className="file-name" title={file.filename}>
        {file.filename}
      </p>
      <p className="soft small">
        {formatSize(file.size)} · {file.mimeType}
      </p>
      <p className="soft small">
        {uploader}, <Time at={file.uploadedAt} />
      </p>
      <p className="row-actions">
        <CopyButton text={file.url} what={`the URL of ${file.filename}`} />
        <ConfirmButton
          label="Delete"
          accessibleName={`Delete ${file.filename}`}
          variant="quiet"
          title={`Delete ${file.filename}?`}
          confirmLabel="Delete file"
          act={remove}
        >
          <p>Its URL stops working. This cannot be undone.</p>
        </ConfirmButton>
      </p>
    </li>
  );
}
