
# only remarks
;;
