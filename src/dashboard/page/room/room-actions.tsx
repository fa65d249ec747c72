/** The actions on a room: reconcile, rename, close, delete. */
import { Menu } from "@base-ui/react/menu";
import type { Room } from "atrium/server";
import { useState } from "react";
import { useLocation } from "wouter";
import { useAddress } from "../data/use-address.ts";
import { Button, Icon } from "../ui/button.tsx";
import { Confirm } from "../ui/confirm.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { DropMenu } from "../ui/drop-menu.tsx";
import { TextField } from "../ui/fields.tsx";
import { Form } from "../ui/form.tsx";
import { useDeleteRoom, useReconcile, useUpdateRoom } from "./use-room.ts";

export function RoomActions({ room }: { readonly room: Room }) {
  const [openDialog, setOpenDialog] = useState<"edit" | "delete" | null>(null);
  const reconcile = useReconcile(room.id);
  const isClosed = room.state === "closed";
  const toggle = useUpdateRoom(room.id, isClosed ? "Room reopened" : "Room closed");
  return (
    <>
      <Button isBusy={reconcile.isPending} onClick={() => reconcile.mutate()}>
        Reconcile
      </Button>
      <DropMenu label="More actions" className="button plain" face={<Icon name="more" />} align="end">
        <Menu.Item onClick={() => setOpenDialog("edit")}>Edit…</Menu.Item>
        <Menu.Item onClick={() => toggle.mutate({ state: isClosed ? "active" : "closed" })}>
          {isClosed ? "Reopen" : "Close"}
        </Menu.Item>
        <Menu.Separator className="separator" />
        <Menu.Item className="bad-text" onClick={() => setOpenDialog("delete")}>
          Delete…
        </Menu.Item>
      </DropMenu>
      <Edit room={room} isOpen={openDialog === "edit"} onClose={() => setOpenDialog(null)} />
      <Deletion room={room} isOpen={openDialog === "delete"} onClose={() => setOpenDialog(null)} />
    </>
  );
}

interface RoomDialogProps {
  readonly room: Room;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

function Edit({ room, isOpen, onClose }: RoomDialogProps) {
  const update = useUpdateRoom(room.id, "Room saved");
  return (
    <Dialog title="Edit room" isOpen={isOpen} onClose={onClose}>
      <Form
        submitLabel="Save"
        error={update.error}
        isBusy={update.isPending}
        onCancel={onClose}
        onSubmit={({ name = "", customId = "" }) =>
          update.mutate({ name, customId: customId || null }, { onSuccess: onClose })
        }
      >
        <TextField label="Name" name="name" defaultValue={room.name} required maxLength={255} />
        <TextField label="Custom ID" name="customId" defaultValue={room.custom_id ?? ""} maxLength={255} />
      </Form>
    </Dialog>
  );
}

function Deletion({ room, isOpen, onClose }: RoomDialogProps) {
  const address = useAddress();
  const [, go] = useLocation();
  const remove = useDeleteRoom(room.id);
  const act = {
    ...remove,
    mutateAsync: async () => {
      await remove.mutateAsync();
      go(address("/rooms"));
    },
  };
  return (
    <Confirm
      title={`Delete ${room.name}?`}
      confirmLabel="Delete room"
      act={act}
      isOpen={isOpen}
      onClose={onClose}
    >
      <p>
        This deletes its users, stores, comments and files, and disconnects all participants. This cannot be
        undone.
      </p>
    </Confirm>
  );
}
