/** The person's name, password, mails and theme. */
import { callDashboard } from "../data/api.ts";
import { ME } from "../data/me.ts";
import { useCurrent } from "../data/organization.tsx";
import { useAction } from "../data/use-action.ts";
import { NewPasswordField } from "../sign-in/credentials.tsx";
import { SelectField, TextField } from "../ui/fields.tsx";
import { Form } from "../ui/form.tsx";
import { chooseTheme, THEME_NAMES, THEMES, useTheme } from "../ui/theme.ts";
import { NoticesPart } from "./notices-part.tsx";
import { OwnData } from "./own-data.tsx";

export function ProfilePart() {
  const theme = useTheme();
  return (
    <>
      <Name />
      <Password />
      <NoticesPart />
      <section aria-labelledby="appearance">
        <h2 id="appearance">Appearance</h2>
        <div className="form">
          <SelectField
            label="Theme"
            value={theme}
            onChange={(event) =>
              chooseTheme(THEMES.find((one) => one === event.currentTarget.value) ?? "system")
            }
          >
            {THEMES.map((one) => (
              <option key={one} value={one}>
                {THEME_NAMES[one]}
              </option>
            ))}
          </SelectField>
        </div>
      </section>
      <OwnData />
    </>
  );
}

function Name() {
  const { person } = useCurrent().me;
  const rename = useAction((name: string) => callDashboard("PATCH", "me", { name }), {
    notice: "Name changed",
    invalidates: [ME],
    isForm: true,
  });
  return (
    <section aria-labelledby="name">
      <h2 id="name">Profile</h2>
      <p className="soft">{person.email}</p>
      <Form
        submitLabel="Save"
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
  const change = useAction(
    (input: { current: string; next: string }) => callDashboard("POST", "password", input),
    {
      notice: "Password changed. You are signed out everywhere else.",
      isForm: true,
    },
  );
  return (
    <section aria-labelledby="password">
      <h2 id="password">Password</h2>
      <Form
        key={change.isSuccess ? change.submittedAt : 0}
        submitLabel="Change password"
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
