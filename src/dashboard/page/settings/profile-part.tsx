/** The person's own name and password, and how the dashboard looks to them. */
import { askDoor } from "../data/api.ts";
import { ME } from "../data/me.ts";
import { useCurrent } from "../data/organization.tsx";
import { useAct } from "../data/use-action.ts";
import { chooseTheme, THEMES, useTheme } from "../shell/theme.ts";
import { NewPasswordField } from "../sign-in/credentials.tsx";
import { Form } from "../ui/form.tsx";
import { SelectField } from "../ui/select-field.tsx";
import { TextField } from "../ui/text-field.tsx";

const NAMES = { system: "As the system is", light: "Light", dark: "Dark" };

export function YouPart() {
  const theme = useTheme();
  return (
    <>
      <Name />
      <Password />
      <section aria-labelledby="looks">
        <h2 id="looks">Looks</h2>
        <SelectField
          label="Light or dark"
          value={theme}
          onChange={(event) =>
            chooseTheme(THEMES.find((one) => one === event.currentTarget.value) ?? "system")
          }
        >
          {THEMES.map((one) => (
            <option key={one} value={one}>
              {NAMES[one]}
            </option>
          ))}
        </SelectField>
      </section>
    </>
  );
}

function Name() {
  const { person } = useCurrent().me;
  const rename = useAct((name: string) => askDoor("PATCH", "me", { name }), {
    done: "Name changed",
    touches: [ME],
    isForm: true,
  });
  return (
    <section aria-labelledby="name">
      <h2 id="name">You</h2>
      <p className="soft">{person.email}</p>
      <Form
        verb="Save"
        error={rename.error}
        isBusy={rename.isPending}
        onSubmit={({ name = "" }) => rename.mutate(name)}
      >
        <TextField
          label="Name"
          name="name"
          autoComplete="name"
          required
          maxLength={255}
          defaultValue={person.name}
        />
      </Form>
    </section>
  );
}

function Password() {
  const change = useAct((input: { current: string; next: string }) => askDoor("POST", "password", input), {
    done: "Password changed; you are signed out everywhere else",
    isForm: true,
  });
  return (
    <section aria-labelledby="password">
      <h2 id="password">Password</h2>
      <Form
        key={change.isSuccess ? change.submittedAt : 0}
        verb="Change password"
        error={change.error}
        isBusy={change.isPending}
        onSubmit={({ current = "", next = "" }) => change.mutate({ current, next })}
      >
        <TextField
          label="Current password"
          name="current"
          type="password"
          autoComplete="current-password"
          required
        />
        <NewPasswordField name="next" label="New password" />
      </Form>
    </section>
  );
}
