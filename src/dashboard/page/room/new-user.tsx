/** The button and dialog that create a user. */
import { useState } from "react";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { SelectField, TextField } from "../ui/fields.tsx";
import { Form } from "../ui/form.tsx";
import { useCreateUser } from "./use-users.ts";

export function NewUser({ roomId }: { readonly roomId: string }) {
  const [isOpen, setOpen] = useState(false);
  const create = useCreateUser(roomId);
  const close = () => {
    setOpen(false);
    create.reset();
  };
  return (
    <>
      <Button variant="primary" icon="plus" data-shortcut="new" onClick={() => setOpen(true)}>
        New user
      </Button>
      <Dialog title="New user" isOpen={isOpen} onClose={close}>
        <Form
          submitLabel="Create user"
          error={create.error}
          isBusy={create.isPending}
          onCancel={close}
          onSubmit={({ name = "", customId = "", role }) =>
            create.mutate(
              { name, role: role === "viewer" ? "viewer" : "editor", ...(customId && { customId }) },
              { onSuccess: close },
            )
          }
        >
          <TextField label="Name" name="name" required maxLength={255} />
          <SelectField label="Role" name="role" hint="Viewers can read, follow others and show presence.">
            <option value="editor">editor</option>
            <option value="viewer">viewer</option>
          </SelectField>
          <TextField
            label="Custom ID"
            name="customId"
            maxLength={255}
            hint="Optional. The ID of the user in your application; unique in the room."
          />
        </Form>
      </Dialog>
    </>
  );
}
