/** Who is signed in, light or dark, and the way out. */
import { Menu } from "@base-ui/react/menu";
import { useLocation } from "wouter";
import { useSignOut } from "../data/me.ts";
import { useAddress, useCurrent } from "../data/organization.tsx";
import { chooseTheme, THEMES, useTheme } from "./theme.ts";

const NAMES = { system: "As the system is", light: "Light", dark: "Dark" };

export function PersonMenu() {
  const { person } = useCurrent().me;
  const theme = useTheme();
  const signOut = useSignOut();
  const address = useAddress();
  const [, go] = useLocation();
  return (
    <Menu.Root modal={false}>
      <Menu.Trigger className="button quiet person" aria-label={`You: ${person.name}`}>
        <span className="monogram round">{[...person.name][0]?.toUpperCase()}</span>
        <span className="person-name">{person.name}</span>
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner className="above-all" sideOffset={4} align="start">
          <Menu.Popup className="menu">
            <p className="soft small menu-note">{person.email}</p>
            <Menu.Item onClick={() => go(address("/settings/you"))}>Your settings</Menu.Item>
            <Menu.Separator className="separator" />
            <Menu.RadioGroup value={theme} onValueChange={chooseTheme}>
              {THEMES.map((value) => (
                <Menu.RadioItem key={value} value={value}>
                  {NAMES[value]}
                  <Menu.RadioItemIndicator className="indicator">✓</Menu.RadioItemIndicator>
                </Menu.RadioItem>
              ))}
            </Menu.RadioGroup>
            <Menu.Separator className="separator" />
            <Menu.Item onClick={() => signOut.mutate()}>Sign out</Menu.Item>
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
