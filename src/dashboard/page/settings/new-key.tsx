/** Makes an API key, and shows it for the only time, with a request that works when pasted. */
import { useState } from "react";
import { useCurrent } from "../data/organization.tsx";
import { Button } from "../ui/button.tsx";
import { CodeBlock } from "../ui/code-block.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Form } from "../ui/form.tsx";
import { Secret } from "../ui/secret.tsx";
import { TextField } from "../ui/text-field.tsx";
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
      <Button look="primary" icon="plus" data-shortcut="new" onClick={() => setOpen(true)}>
        New API key
      </Button>
      <Dialog title="New API key" isOpen={isOpen && key === null} onClose={close}>
        <Form
          verb="Create key"
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
            hint="Where it is used, such as Back end."
          />
        </Form>
      </Dialog>
      <Secret
        title="Your new API key"
        about="It opens everything that is the organization's: keep it on your servers. It is not shown again."
        secret={key}
        what="the API key"
        onKept={close}
      >
        {key && (
          <CodeBlock what="A request with it" text={firstRequest(location.origin, organization.id, key)} />
        )}
      </Secret>
    </>
  );
}
