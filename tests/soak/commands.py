"""What the model of a soak runs: each command ends by itself within seconds, also what it leaves behind."""

COMMANDS: tuple[str, ...] = (
    "echo hello",
    "python3 prices.py",
    "exit 3",
    "false; echo still here",
    "seq 1 200000",
    "yes | head -c 20000000",
    # Without a byte of the key that the echo is measured with.
    r"head -c 30000 /dev/urandom | tr -d '\247'",
    "for n in 1 2 3 4 5; do echo step $n; sleep 0.3; done",
    r"for n in $(seq 1 100); do printf '\r%d %%' $n; sleep 0.01; done; echo",
    r"printf '\033[31mred\033[0m \033]0;title\007 \033[?1049h \033[2J wide: 日本 🎉\n'",
    r"printf 'A\033[?4mB\033_Ga=q;AAAA\033\\C\033P1;2|abc\033\\D\n'; printf '\033['",
    "sleep 5",
    "trap '' TERM INT; sleep 4",
    "(sleep 4 & sleep 3; echo inner) & sleep 3",
    "(setsid sleep 3 &); echo left one behind",
    "nohup sleep 3 > /dev/null 2>&1 & echo up",
    "while :; do echo tick; sleep 0.1; done & sleep 0.5; kill $!",
    "cat",
    "find / -maxdepth 3 2>/dev/null | head -3000",
    "printf '%s' \"$(seq 1 30000 | tr '\\n' ' ')\"",
    "git log --oneline; git status",
    "rm -f new.txt; ls -la",
)
