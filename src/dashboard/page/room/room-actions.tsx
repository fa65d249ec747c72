/** What can be done to a room as a whole. */
import { Menu } from "@base-ui/react/menu";
import type { Room } from "atrium/server";
import { useState } from "react";
import { useLocation } from "wouter";
import { useAddress } from "../data/organization.tsx";
import { Button } from "../ui/button.tsx";
import { Confirm } from "../ui/confirm.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { DropMenu } from "../ui/drop-menu.tsx";
import { Form } from "../ui/form.tsx";
import { Icon } from "../ui/icon.tsx";
import { TextField } from "../ui/text-field.tsx";
import { useDeleteRoom, useReconcile, useUpdateRoom } from "./use-room.ts";

export function RoomActions({ room }: { readonly room: Room }) {
  const [asked, setAsked] = useState<"rename" | "delete" | null>(null);
  const reconcile = useReconcile(room.id);
  const isClosed = room.state === "closed";
  const toggle = useUpdateRoom(room.id, isClosed ? "Room opened" : "Room closed");
  return (
    <>
      <Button isBusy={reconcile.isPending} onClick={() => reconcile.mutate()}>
        Reconcile
      </Button>
      <DropMenu label="More about this room" className="button plain" face={<Icon name="more" />} align="end">
        <Menu.Item onClick={() => setAsked("rename")}>Rename…</Menu.Item>
        <Menu.Item onClick={() => toggle.mutate({ state: isClosed ? "active" : "closed" })}>
          {isClosed ? "Open again" : "Close: nobody can join"}
        </Menu.Item>
        <Menu.Separator className="separator" />
        <Menu.Item className="bad-text" onClick={() => setAsked("delete")}>
          Delete…
        </Menu.Item>
      </DropMenu>
      <Rename room={room} isOpen={asked === "rename"} onClose={() => setAsked(null)} />
      <Deletion room={room} isOpen={asked === "delete"} onClose={() => setAsked(null)} />
    </>
  );
}

interface AskedProps {
  readonly room: Room;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

function Rename({ room, isOpen, onClose }: AskedProps) {
  const update = useUpdateRoom(room.id, "Room changed");
  return (
    <Dialog title="Rename room" isOpen={isOpen} onClose={onClose}>
      <Form
        verb="Save"
        error={update.error}
        isBusy={update.isPending}
        onCancel={onClose}
        onSubmit={({ name = "", customId = "" }) =>
          update.mutate({ name, customId: customId || null }, { onSuccess: onClose })
        }
      >
        <TextField label="Name" name="name" defaultValue={room.name} required maxLength={255} />
        <TextField label="Your own id" name="customId" defaultValue={room.custom_id ?? ""} maxLength={255} />
      </Form>
    </Dialog>
  );
}

function Deletion({ room, isOpen, onClose }: AskedProps) {
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
    <Confirm title={`Delete ${room.name}?`} verb="Delete room" act={act} isOpen={isOpen} onClose={onClose}>
      <p>
        Its {room.total_users_created} users, its stores, comments and files go with it, and everybody who is
        in it is sent away. This cannot be undone.
      </p>
    </Confirm>
  );
}
