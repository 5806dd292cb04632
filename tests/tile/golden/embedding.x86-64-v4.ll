; x86-64-v4
define internal void @"point"(ptr %".1", ptr %".2", ptr noalias %".3", i64 %".4")
{
entry:
  br label %"start"
start:
  %".6" = getelementptr i64, ptr %".2", i64 0
  %".7" = load i64, ptr %".6"
  %".8" = urem i64 %".4", %".7"
  %".9" = udiv i64 %".4", %".7"
  %".10" = getelementptr ptr, ptr %".1", i64 0
  %".11" = load ptr, ptr %".10"
  %".12" = getelementptr ptr, ptr %".1", i64 1
  %".13" = load ptr, ptr %".12"
  %".14" = getelementptr ptr, ptr %".1", i64 2
  %".15" = load ptr, ptr %".14"
  %".16" = trunc i64 %".8" to i32
  %".17" = trunc i64 %".7" to i32
  %".18" = trunc i64 %".8" to i32
  %".19" = icmp slt i32 %".18", 0
  %".20" = add i32 %".18", 6
  %".21" = select  i1 %".19", i32 %".20", i32 %".18"
  %".22" = sext i32 %".21" to i64
  %".23" = icmp ult i64 %".22", 6
  %".24" = getelementptr inbounds i32, ptr %".11", i64 %".22"
  %".25" = select  i1 %".23", i64 %".22", i64 0
  %".26" = getelementptr inbounds i32, ptr %".11", i64 %".25"
  %".27" = load i32, ptr %".26", align 4
  %".28" = select  i1 %".23", i32 %".27", i32 2147483648
  %".29" = sext i32 %".28" to i64
  %".30" = sext i32 0 to i64
  %".31" = mul i64 %".30", 16
  %".32" = icmp ule i64 %".29", 9
  %".33" = icmp ule i64 %".31", 0
  %".34" = and i1 %".32", %".33"
  %".35" = mul i64 %".29", 16
  %".36" = add i64 %".35", %".31"
  %".37" = getelementptr float, ptr %".13", i64 %".36"
  %".38" = getelementptr i8, ptr %".3", i64 0
  %".39" = xor i1 %".34", -1
  br i1 %".39", label %"then", label %"end"
then:
  %".41" = getelementptr inbounds float, ptr %".38", i64 0
  store <16 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".41", align 4
  %".43" = icmp slt i64 %".29", 0
  %".44" = sub i64 0, %".29"
  %".45" = select  i1 %".43", i64 %".44", i64 0
  %".46" = sub i64 10, %".29"
  %".47" = icmp slt i64 %".46", 1
  %".48" = select  i1 %".47", i64 %".46", i64 1
  %".49" = icmp slt i64 %".31", 0
  %".50" = sub i64 0, %".31"
  %".51" = select  i1 %".49", i64 %".50", i64 0
  %".52" = sub i64 16, %".31"
  %".53" = icmp slt i64 %".52", 16
  %".54" = select  i1 %".53", i64 %".52", i64 16
  br label %"loop"
end:
  %".74" = select  i1 %".34", ptr %".37", ptr %".38"
  %".75" = trunc i64 %".8" to i32
  %".76" = sext i32 %".75" to i64
  %".77" = sext i32 0 to i64
  %".78" = mul i64 %".77", 16
  %".79" = icmp ule i64 %".76", 5
  %".80" = icmp ule i64 %".78", 0
  %".81" = and i1 %".79", %".80"
  %".82" = mul i64 %".76", 16
  %".83" = add i64 %".82", %".78"
  %".84" = getelementptr float, ptr %".15", i64 %".83"
  %".85" = getelementptr i8, ptr %".3", i64 64
  %".86" = xor i1 %".81", -1
  br i1 %".86", label %"then.1", label %"end.1"
loop:
  %"i" = phi  i64 [%".45", %"then"], [%".71", %"done.1"]
  %".56" = icmp slt i64 %"i", %".48"
  br i1 %".56", label %"body", label %"done"
body:
  br label %"loop.1"
done:
  br label %"end"
loop.1:
  %"i.1" = phi  i64 [%".51", %"body"], [%".69", %"body.1"]
  %".59" = icmp slt i64 %"i.1", %".54"
  br i1 %".59", label %"body.1", label %"done.1"
body.1:
  %".61" = add i64 %".29", %"i"
  %".62" = add i64 %".31", %"i.1"
  %".63" = mul i64 %".61", 16
  %".64" = add i64 %".63", %".62"
  %".65" = getelementptr inbounds float, ptr %".13", i64 %".64"
  %".66" = load float, ptr %".65", align 4
  %".67" = getelementptr inbounds float, ptr %".38", i64 %"i.1"
  store float %".66", ptr %".67", align 4
  %".69" = add i64 %"i.1", 1
  br label %"loop.1"
done.1:
  %".71" = add i64 %"i", 1
  br label %"loop"
then.1:
  %".88" = getelementptr inbounds float, ptr %".85", i64 0
  store <16 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".88", align 4
  %".90" = icmp slt i64 %".76", 0
  %".91" = sub i64 0, %".76"
  %".92" = select  i1 %".90", i64 %".91", i64 0
  %".93" = sub i64 6, %".76"
  %".94" = icmp slt i64 %".93", 1
  %".95" = select  i1 %".94", i64 %".93", i64 1
  %".96" = icmp slt i64 %".78", 0
  %".97" = sub i64 0, %".78"
  %".98" = select  i1 %".96", i64 %".97", i64 0
  %".99" = sub i64 16, %".78"
  %".100" = icmp slt i64 %".99", 16
  %".101" = select  i1 %".100", i64 %".99", i64 16
  br label %"loop.2"
end.1:
  %".121" = select  i1 %".81", ptr %".84", ptr %".85"
  %".122" = getelementptr inbounds float, ptr %".74", i64 0
  %".123" = load <16 x float>, ptr %".122", align 4
  %".124" = getelementptr inbounds float, ptr %".121", i64 0
  store <16 x float> %".123", ptr %".124", align 4
  br i1 %".86", label %"then.2", label %"end.2"
loop.2:
  %"i.2" = phi  i64 [%".92", %"then.1"], [%".118", %"done.3"]
  %".103" = icmp slt i64 %"i.2", %".95"
  br i1 %".103", label %"body.2", label %"done.2"
body.2:
  br label %"loop.3"
done.2:
  br label %"end.1"
loop.3:
  %"i.3" = phi  i64 [%".98", %"body.2"], [%".116", %"body.3"]
  %".106" = icmp slt i64 %"i.3", %".101"
  br i1 %".106", label %"body.3", label %"done.3"
body.3:
  %".108" = add i64 %".76", %"i.2"
  %".109" = add i64 %".78", %"i.3"
  %".110" = mul i64 %".108", 16
  %".111" = add i64 %".110", %".109"
  %".112" = getelementptr inbounds float, ptr %".15", i64 %".111"
  %".113" = load float, ptr %".112", align 4
  %".114" = getelementptr inbounds float, ptr %".85", i64 %"i.3"
  store float %".113", ptr %".114", align 4
  %".116" = add i64 %"i.3", 1
  br label %"loop.3"
done.3:
  %".118" = add i64 %"i.2", 1
  br label %"loop.2"
then.2:
  %".127" = icmp slt i64 %".76", 0
  %".128" = sub i64 0, %".76"
  %".129" = select  i1 %".127", i64 %".128", i64 0
  %".130" = sub i64 6, %".76"
  %".131" = icmp slt i64 %".130", 1
  %".132" = select  i1 %".131", i64 %".130", i64 1
  %".133" = icmp slt i64 %".78", 0
  %".134" = sub i64 0, %".78"
  %".135" = select  i1 %".133", i64 %".134", i64 0
  %".136" = sub i64 16, %".78"
  %".137" = icmp slt i64 %".136", 16
  %".138" = select  i1 %".137", i64 %".136", i64 16
  br label %"loop.4"
end.2:
  ret void
loop.4:
  %"i.4" = phi  i64 [%".129", %"then.2"], [%".155", %"done.5"]
  %".140" = icmp slt i64 %"i.4", %".132"
  br i1 %".140", label %"body.4", label %"done.4"
body.4:
  br label %"loop.5"
done.4:
  br label %"end.2"
loop.5:
  %"i.5" = phi  i64 [%".135", %"body.4"], [%".153", %"body.5"]
  %".143" = icmp slt i64 %"i.5", %".138"
  br i1 %".143", label %"body.5", label %"done.5"
body.5:
  %".145" = add i64 %".76", %"i.4"
  %".146" = add i64 %".78", %"i.5"
  %".147" = getelementptr inbounds float, ptr %".85", i64 %"i.5"
  %".148" = load float, ptr %".147", align 4
  %".149" = mul i64 %".145", 16
  %".150" = add i64 %".149", %".146"
  %".151" = getelementptr inbounds float, ptr %".15", i64 %".150"
  store float %".148", ptr %".151", align 4
  %".153" = add i64 %"i.5", 1
  br label %"loop.5"
done.5:
  %".155" = add i64 %"i.4", 1
  br label %"loop.4"
}
