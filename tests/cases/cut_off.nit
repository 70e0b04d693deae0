$page = fetch(url="https://a.example")
write(path="a.md", text="""
# Title

The text goes on and
