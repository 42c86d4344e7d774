# An MCP server of tests in pure Python, with one dependency: lines in, lines out.
import json
import os
import socket
import sys

import test_leaf


def call(name, given):
    if name == "echo":
        return given.get("value", "echo")
    if name == "leaf":
        return test_leaf.VALUE
    if name == "env":
        return json.dumps(sorted(os.environ))
    if name == "modules":
        return json.dumps([path for path in sys.path if path])
    if name == "read":
        return open(given["path"]).read()
    if name == "write":
        open(given["path"], "w").write(given.get("value", ""))
        return "written"
    if name == "dial":
        socket.create_connection(("127.0.0.1", int(given["value"])), 5).close()
        return "connected"
    if name == "arguments":
        return json.dumps(sys.argv[1:])
    raise ValueError("no such tool")


def answer(message):
    method = message.get("method")
    if method == "initialize":
        version = message["params"]["protocolVersion"]
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": {"name": "plain", "version": "1"}}
    if method == "tools/list":
        names = ["echo", "leaf", "env", "modules", "read", "write", "dial", "arguments"]
        schema = {"type": "object", "properties": {"path": {"type": "string"}, "value": {"type": "string"}}}
        return {"tools": [{"name": name, "description": f"The tool {name}.", "inputSchema": schema} for name in names]}
    if method == "tools/call":
        try:
            text = call(message["params"]["name"], message["params"].get("arguments", {}))
            return {"content": [{"type": "text", "text": text}]}
        except Exception as error:
            return {"content": [{"type": "text", "text": f"{type(error).__name__}: {error}"}], "isError": True}
    return {}


def main():
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message:
            sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": answer(message)}) + "\n")
            sys.stdout.flush()
