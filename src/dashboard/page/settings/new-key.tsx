/** The button and dialogs that create an API key and show it once, with a request to try it. */
import { useState } from "react";
import { useCurrent } from "../data/organization.tsx";
import { Button } from "../ui/button.tsx";
import { CodeBlock, Secret } from "../ui/copy.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { TextField } from "../ui/fields.tsx";
import { Form } from "../ui/form.tsx";
import { firstRequest } from "./first-request.ts";
import { useCreateKey } from "./use-keys.ts";

export function NewKey() {
  const { organization } = useCurrent();
  const [isOpen, setOpen] = useState(false);
  const create = useCreateKey();
  const key = create.data?.key ?? null;
  const close = () => {
    setOpen(false);
    create.reset();
  };
  return (
    <>
      <Button variant="primary" icon="plus" data-shortcut="new" onClick={() => setOpen(true)}>
        New API key
      </Button>
      <Dialog title="New API key" isOpen={isOpen && key === null} onClose={close}>
        <Form
          submitLabel="Create key"
          error={create.error}
          isBusy={create.isPending}
          onCancel={close}
          onSubmit={({ name = "" }) => create.mutate(name)}
        >
          <TextField
            label="Name"
            name="name"
            required
            maxLength={255}
            hint="Where you use it, such as Back end."
          />
        </Form>
      </Dialog>
      <Secret
        title="Your new API key"
        about="It gives full access to the organization, so keep it on your servers. You will not see it again."
        secret={key}
        what="the API key"
        onDone={close}
      >
        {key && (
          <CodeBlock what="Your first request" text={firstRequest(location.origin, organization.id, key)} />
        )}
      </Secret>
    </>
  );
}
