$a = async fetch(url="https://a.example")
$b = async fetch(url=join(base=$root, path="b"))
compare(left=$a, right=$b)
async notify(text=f"{$a.status}")
