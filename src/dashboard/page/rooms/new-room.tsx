/** The button and dialog that create a room and open it. */
import { useState } from "react";
import { useLocation } from "wouter";
import { useAddress } from "../data/use-address.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { TextField } from "../ui/fields.tsx";
import { Form } from "../ui/form.tsx";
import { useCreateRoom } from "./use-rooms.ts";

export function NewRoom() {
  const [isOpen, setOpen] = useState(false);
  const create = useCreateRoom();
  const address = useAddress();
  const [, go] = useLocation();
  const close = () => {
    setOpen(false);
    create.reset();
  };
  return (
    <>
      <Button variant="primary" icon="plus" data-shortcut="new" onClick={() => setOpen(true)}>
        New room
      </Button>
      <Dialog title="New room" isOpen={isOpen} onClose={close}>
        <Form
          submitLabel="Create room"
          error={create.error}
          isBusy={create.isPending}
          onCancel={close}
          onSubmit={({ name = "", customId = "" }) =>
            create.mutate(
              { name, ...(customId && { customId }) },
              { onSuccess: (room) => go(address(`/rooms/${room.id}`)) },
            )
          }
        >
          <TextField label="Name" name="name" required maxLength={255} />
          <TextField
            label="Custom ID"
            name="customId"
            maxLength={255}
            hint="Optional. The ID of the room in your application; unique in the organization."
          />
        </Form>
      </Dialog>
    </>
  );
}
