/** Downloads a document, or a version of it, and deletes it. */
import { Menu } from "@base-ui/react/menu";
import { useLocation } from "wouter";
import { useAction } from "../data/organization.tsx";
import { saveFile } from "../ui/button.tsx";
import { ConfirmAction, DropMenu } from "../ui/dialog.tsx";
import { jsonOf, textOf } from "./document.ts";
import type { Chosen, DocumentPlace } from "./history.ts";

interface DocumentActionsProps {
  readonly place: DocumentPlace;
  readonly version: Chosen;
}

const FORMATS = { update: "Yjs update", text: "Text", json: "JSON of its shared types" };

export function DocumentActions({ place: { roomId, name }, version }: DocumentActionsProps) {
  const [, go] = useLocation();
  const download = useAction(
    async ({ documents }, format: string) => {
      const update = await documents.get(roomId, name, version === null ? {} : { version });
      const file = version === null ? name : `${name}-${version}`;
      if (format === "update") {
        saveFile(`${file}.bin`, "application/octet-stream", new Uint8Array(update));
        return;
      }
      const { readUpdate } = await import("./read-document.ts");
      const roots = readUpdate(update);
      if (format === "text") saveFile(`${file}.txt`, "text/plain", textOf(roots));
      else saveFile(`${file}.json`, "application/json", JSON.stringify(jsonOf(roots), null, 2));
    },
    { notifiesErrors: true },
  );
  return (
    <div className="row-actions">
      <DropMenu label="Download" className="button plain" face="Download" align="end">
        {Object.entries(FORMATS).map(([format, label]) => (
          <Menu.Item key={format} onClick={() => download.mutate(format)}>
            {label}
          </Menu.Item>
        ))}
      </DropMenu>
      <ConfirmAction
        label="Delete…"
        accessibleName={`Delete… ${name}`}
        title={`Delete ${name}?`}
        confirmLabel="Delete document"
        typed={name}
        act={({ documents }) => documents.delete(roomId, name)}
        options={{
          notice: "Document deleted",
          refreshes: [["room", roomId, "documents"]],
          onDone: () => go(`/rooms/${roomId}/documents`),
        }}
      >
        <p>
          The document is closed for everyone, and deleted with its history and versions. This cannot be
          undone. Clients that are offline create it again with their copy when they come back.
        </p>
      </ConfirmAction>
    </div>
  );
}
