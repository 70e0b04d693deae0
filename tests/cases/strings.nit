$a = 'it\'s "quoted"' "and" r'\raw\n'
$b = """one
two""" f'{$a}'
$c = "\u4f60\ud83d\ude00\x41\101\/"
f("""she said "hi" """, '', "# no remark", "pay $5 to $a")
g("\ud83d")
h("\x1")
