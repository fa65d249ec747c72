/** The actions on a room: reconcile, rename, close, delete. */
import { Menu } from "@base-ui/react/menu";
import type { Room } from "atrium/server";
import { useState } from "react";
import { useLocation } from "wouter";
import { useAction } from "../data/organization.tsx";
import { Button, Icon } from "../ui/button.tsx";
import { Confirm, Dialog, DropMenu, Form } from "../ui/dialog.tsx";
import { TextField } from "../ui/fields.tsx";

interface RoomActionsProps {
  readonly room: Room;
}

export function RoomActions({ room: { id, name, custom_id, state } }: RoomActionsProps) {
  const [, go] = useLocation();
  const [openDialog, setOpenDialog] = useState<"edit" | "delete" | null>(null);
  const close = () => setOpenDialog(null);
  const isClosed = state === "closed";
  const refreshes = [["room", id], ["rooms"]];
  const reconcile = useAction(({ rooms }) => rooms.reconcile(id), {
    notice: ({ previous_active_participants: before, reconciled_active_participants: now }) =>
      before === now ? `No correction needed: ${now} online` : `Corrected from ${before} to ${now} online`,
    refreshes,
    notifiesErrors: true,
  });
  const setState = useAction(({ rooms }, next: Room["state"]) => rooms.update(id, { state: next }), {
    notice: isClosed ? "Room reopened" : "Room closed",
    refreshes,
    notifiesErrors: true,
  });
  const edit = useAction(
    ({ rooms }, changes: { name: string; customId: string | null }) => rooms.update(id, changes),
    { notice: "Room saved", refreshes, onDone: close },
  );
  const remove = useAction(({ rooms }) => rooms.delete(id), {
    notice: "Room deleted",
    refreshes: [["rooms"], ["overview"]],
    onDone: () => go("/rooms"),
  });
  return (
    <>
      <Button isBusy={reconcile.isPending} onClick={() => reconcile.mutate()}>
        Reconcile
      </Button>
      <DropMenu label="More actions" className="button plain" face={<Icon name="more" />} align="end">
        <Menu.Item onClick={() => setOpenDialog("edit")}>Edit…</Menu.Item>
        <Menu.Item onClick={() => setState.mutate(isClosed ? "active" : "closed")}>
          {isClosed ? "Reopen" : "Close"}
        </Menu.Item>
        <Menu.Separator className="separator" />
        <Menu.Item className="bad-text" onClick={() => setOpenDialog("delete")}>
          Delete…
        </Menu.Item>
      </DropMenu>
      <Dialog title="Edit room" isOpen={openDialog === "edit"} onClose={close}>
        <Form
          submitLabel="Save"
          action={edit}
          onCancel={close}
          toInput={({ name: next = "", customId = "" }) => ({ name: next, customId: customId || null })}
        >
          <TextField label="Name" name="name" defaultValue={name} required maxLength={255} />
          <TextField label="Custom ID" name="customId" defaultValue={custom_id ?? ""} maxLength={255} />
        </Form>
      </Dialog>
      <Confirm
        title={`Delete ${name}?`}
        confirmLabel="Delete room"
        action={remove}
        isOpen={openDialog === "delete"}
        onClose={close}
      >
        <p>
          This deletes its users, stores, comments and files, and disconnects all participants. This cannot be
          undone.
        </p>
      </Confirm>
    </>
  );
}
