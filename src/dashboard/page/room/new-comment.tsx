/** The button and dialog that create a comment on behalf of a user. */
import type { User } from "atrium/server";
import { useState } from "react";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Form } from "../ui/form.tsx";
import { SelectField } from "../ui/select-field.tsx";
import { TextArea } from "../ui/text-area.tsx";
import { useCreateComment } from "./use-comments.ts";

export interface NewCommentProps {
  readonly roomId: string;
  readonly users: readonly User[];
}

export function NewComment({ roomId, users }: NewCommentProps) {
  const [isOpen, setOpen] = useState(false);
  const write = useCreateComment(roomId);
  const close = () => {
    setOpen(false);
    write.reset();
  };
  return (
    <>
      <Button icon="plus" data-shortcut="new" disabled={users.length === 0} onClick={() => setOpen(true)}>
        New comment
      </Button>
      <Dialog
        title="New comment"
        about="Creates a comment on behalf of a user, as your back end can."
        isOpen={isOpen}
        onClose={close}
      >
        <Form
          submitLabel="Create comment"
          error={write.error}
          isBusy={write.isPending}
          onCancel={close}
          onSubmit={({ userId = "", text = "" }) => write.mutate({ userId, text }, { onSuccess: close })}
        >
          <SelectField label="User" name="userId">
            {users.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </SelectField>
          <TextArea label="Text" name="text" required rows={4} />
        </Form>
      </Dialog>
    </>
  );
}
