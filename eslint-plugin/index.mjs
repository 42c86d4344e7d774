// The plugin: one rule, and a flat configuration that turns it on.
import { noAmbientAuthority } from "./rules/no-ambient-authority.mjs";

const plugin = {
  meta: { name: "eslint-plugin-ambit", version: "0.1.0" },
  rules: { "no-ambient-authority": noAmbientAuthority },
  configs: {},
};

Object.assign(plugin.configs, {
  recommended: {
    name: "ambit/recommended",
    plugins: { ambit: plugin },
    rules: { "ambit/no-ambient-authority": "error" },
  },
});

export default plugin;
