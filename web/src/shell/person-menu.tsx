import { Menu, useMantineColorScheme } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import {
  BookOpen,
  Check,
  KeyRound,
  LogOut,
  MonitorCog,
  MonitorX,
  Moon,
  Scale,
  Sun,
  UserRound,
} from "lucide-react";
import { useSession, useSignOut } from "../api/session.ts";

const SCHEMES = [
  { scheme: "light", label: "Light", icon: Sun },
  { scheme: "dark", label: "Dark", icon: Moon },
  { scheme: "auto", label: "As the system", icon: MonitorCog },
] as const;

/** Who is signed in, the theme, and the ways out. */
export function PersonMenu() {
  const { person } = useSession();
  const signOut = useSignOut();
  const navigate = useNavigate();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const name = person.display_name || person.user_name;
  return (
    <Menu width="target" position="top-start">
      <Menu.Target>
        <button
          type="button"
          className="sidebar-button person-button"
          aria-label={`${name}: theme and sign-out`}
        >
          <UserRound size={16} aria-hidden />
          <span className="one-line">{name}</span>
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Theme</Menu.Label>
        {SCHEMES.map(({ scheme, label, icon: Icon }) => (
          <Menu.Item
            key={scheme}
            leftSection={<Icon size={14} />}
            onClick={() => setColorScheme(scheme)}
            rightSection={scheme === colorScheme && <Check size={14} aria-hidden />}
            aria-current={scheme === colorScheme}
          >
            {label}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item
          leftSection={<KeyRound size={14} />}
          onClick={() => void navigate({ to: "/account" })}
        >
          Your sign-in
        </Menu.Item>
        <Menu.Item component="a" href="/docs" leftSection={<BookOpen size={14} />}>
          Reference and guides
        </Menu.Item>
        <Menu.Item component="a" href="/docs/third-party-notices" leftSection={<Scale size={14} />}>
          Licences
        </Menu.Item>
        <Menu.Item leftSection={<LogOut size={14} />} onClick={() => void signOut("here")}>
          Sign out
        </Menu.Item>
        <Menu.Item leftSection={<MonitorX size={14} />} onClick={() => void signOut("everywhere")}>
          Sign out everywhere
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
