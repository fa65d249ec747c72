/** The button and dialog that open a store by name. Its first entry creates it. */
import { useState } from "react";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { TextField } from "../ui/fields.tsx";
import { Form } from "../ui/form.tsx";

export function NewStore({ onChosen }: { readonly onChosen: (name: string) => void }) {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <>
      <Button icon="plus" onClick={() => setOpen(true)}>
        New store
      </Button>
      <Dialog title="New store" isOpen={isOpen} onClose={close}>
        <Form
          submitLabel="Open store"
          error={null}
          isBusy={false}
          onCancel={close}
          onSubmit={({ name = "" }) => {
            close();
            onChosen(name);
          }}
        >
          <TextField
            label="Name"
            name="name"
            required
            maxLength={255}
            hint="Such as tasks. The first entry creates the store."
          />
        </Form>
      </Dialog>
    </>
  );
}
