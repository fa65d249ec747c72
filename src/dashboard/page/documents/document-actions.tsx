/** Downloads a document, or a version of it, and deletes it. */
import { Menu } from "@base-ui/react/menu";
import { useLocation } from "wouter";
import { useCurrent } from "../data/organization.tsx";
import { useAction } from "../data/use-action.ts";
import { useAddress } from "../data/use-address.ts";
import { ConfirmButton } from "../ui/confirm.tsx";
import { saveFile } from "../ui/copy.tsx";
import { DropMenu } from "../ui/drop-menu.tsx";
import { jsonOf, textOf } from "./document-root.ts";
import type { Chosen } from "./use-choice.ts";
import { useDeleteDocument } from "./use-documents.ts";
import type { DocumentPlace } from "./use-history.ts";

export interface DocumentActionsProps {
  readonly place: DocumentPlace;
  readonly version: Chosen;
}

type Format = "update" | "text" | "json";

const FORMATS: Readonly<Record<Format, string>> = {
  update: "Yjs update",
  text: "Text",
  json: "JSON of its shared types",
};

export function DocumentActions({ place, version }: DocumentActionsProps) {
  const download = useDownload(place, version);
  return (
    <div className="row-actions">
      <DropMenu label="Download" className="button plain" face="Download" align="end">
        {(Object.keys(FORMATS) as Format[]).map((format) => (
          <Menu.Item key={format} onClick={() => download.mutate(format)}>
            {FORMATS[format]}
          </Menu.Item>
        ))}
      </DropMenu>
      <Deletion place={place} />
    </div>
  );
}

function useDownload({ roomId, name }: DocumentPlace, version: Chosen) {
  const { atrium } = useCurrent();
  return useAction(async (format: Format) => {
    const update = await atrium.documents.get(roomId, name, version === null ? {} : { version });
    const file = version === null ? name : `${name}-${version}`;
    if (format === "update") {
      saveFile(`${file}.bin`, "application/octet-stream", new Uint8Array(update));
      return;
    }
    const { readUpdate } = await import("./read-document.ts");
    const roots = readUpdate(update);
    if (format === "text") saveFile(`${file}.txt`, "text/plain", textOf(roots));
    else saveFile(`${file}.json`, "application/json", JSON.stringify(jsonOf(roots), null, 2));
  });
}

function Deletion({ place: { roomId, name } }: Pick<DocumentActionsProps, "place">) {
  const address = useAddress();
  const [, go] = useLocation();
  const remove = useDeleteDocument(roomId, name);
  const act = {
    ...remove,
    mutateAsync: async () => {
      await remove.mutateAsync();
      go(address(`/rooms/${roomId}/documents`));
    },
  };
  return (
    <ConfirmButton
      label="Delete…"
      accessibleName={`Delete… ${name}`}
      title={`Delete ${name}?`}
      confirmLabel="Delete document"
      typed={name}
      act={act}
    >
      <p>
        The document is closed for everyone, and deleted with its history and versions. This cannot be undone.
        Clients that are offline create it again with what they have when they come back.
      </p>
    </ConfirmButton>
  );
}
